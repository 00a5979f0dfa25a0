"""Copies and products recorded on a real GPU that differ in one thing each: what the L2 fetches, line 29 alone."""

from typing import Any

from course_lib import data
from course_lib.plots import Picture, render, style

PIECE = 32                                # bytes: the other setting of cudaLimitMaxL2FetchGranularity
APART = (1, 2, 4, 8, 16, 32)              # strides recorded with it
COPIED = 2**26                            # floats that are timed


def label() -> str:
    """Say where and when, as a sentence of its own."""
    return data.readings("coalescing").label.replace("recorded", "Recorded", 1)


def timed(**values: Any) -> dict[str, Any]:
    """Return the one timed row with these values."""
    row, = (r for r in data.readings("coalescing").find(**values) if "median_s" in r)
    return row


def us(**values: Any) -> float:
    """Return the recorded time of the one row with these values, in microseconds."""
    return 1e6 * timed(**values)["median_s"]


def copy_us(stride: int = 1, offset: int = 0) -> float:
    """Return the time of the strided copy of 2²⁶ floats, one float per load, with the L2 as it is found."""
    return 1e6 * copied(stride, offset)["median_s"]


def copied(stride: int = 1, offset: int = 0) -> dict[str, Any]:
    """Return the row of that copy."""
    return timed(what="copy", stride=stride, offset=offset, VEC=1)


def limited_us(stride: int) -> float:
    """Return the time of the same copy when the L2 was told to fetch pieces of 32 bytes."""
    return us(what="limit", stride=stride, limit=PIECE)


def product_us(variant: str, N: int = 1024, padding: int = 0) -> float:
    """Return the time of a product with tiles of 16 × 16."""
    return 1e6 * product(variant, N, padding)["median_s"]


def product(variant: str, N: int = 1024, padding: int = 0) -> dict[str, Any]:
    """Return the row of that product."""
    return timed(what="product", variant=variant, N=N, TILE=16, padding=padding)


@style.styled
def fetch_chart() -> Picture:
    """Draw the time of the copy at every stride, and points of those strides that were recorded with smaller pieces of the L2."""
    strides = range(1, APART[-1] + 1)
    ax = style.axes(width=9.0, height=4.2)
    ax.plot(strides, [copy_us(s) for s in strides], color=style.CYCLE[0], marker=style.MARKERS[0], label="as it is")
    ax.plot(APART, [limited_us(s) for s in APART], linestyle="none", color=style.CYCLE[2], marker=style.MARKERS[2], markersize=9,
            label=f"the L2 fetches {PIECE} bytes at once")
    ax.set(xlabel=f"stride, floats\n2²⁶ floats. {label()}", ylabel="µs", ylim=(0, None))
    ax.set_xticks([1, *range(4, APART[-1] + 1, 4)])
    ax.grid(axis="y")
    ax.legend(frameon=True, framealpha=1, edgecolor="none", loc="upper left")
    said = [f"stride {s}: {copy_us(s):,.0f} as it is and {limited_us(s):,.0f} with pieces of {PIECE} bytes" for s in APART]
    return render(ax, "Microseconds of a copy against the stride. " + ", ".join(said) + ".")
