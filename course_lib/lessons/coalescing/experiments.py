"""Copies and products recorded on a real GPU that differ in one thing each: what the L2 fetches, what is under way, line 29 alone."""

from typing import Any

from course_lib import data
from course_lib.plots import Picture, Table, render, style

LIMITS = (32, 64, 128)                    # bytes, of cudaLimitMaxL2FetchGranularity
APART = (1, 2, 4, 8, 16, 32)              # strides recorded with each of them
COPIED = 2**26                            # floats that are timed
UNDER_WAY = (4, 8, 16, 32, 64)            # bytes that a thread loads before its first store


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


def limited_us(stride: int, limit: int) -> float:
    """Return the time of the same copy when the L2 was told to fetch pieces of `limit` bytes."""
    return us(what="limit", stride=stride, limit=limit)


def fetched_mb(stride: int, limit: int = 0) -> float:
    """Return the 10⁶ bytes that a copy of 2²⁴ floats reads from memory; limit 0 leaves the L2 as it is found."""
    row, = data.readings("coalescing").find(what="count", kernel="copy_strided", stride=stride, offset=0, VEC=1, limit=limit)
    return row["dram_bytes_read"] / 1e6


def loads_us(VEC: int = 1, loads: int = 1, together: bool = True) -> float:
    """Return the time of the copy whose threads load VEC floats several times, before their first store or each before its own."""
    return us(what="loads", kernel="copy_loads", VEC=VEC, LOADS=loads, TOGETHER=int(together))


def past_l1_us(offset: int) -> float:
    """Return the time of a copy whose loads leave nothing in the L1."""
    return us(what="loads", kernel="copy_past_l1", OFFSET=offset)


def product_us(variant: str, N: int = 1024, padding: int = 0) -> float:
    """Return the time of a product with tiles of 16 × 16."""
    return 1e6 * product(variant, N, padding)["median_s"]


def product(variant: str, N: int = 1024, padding: int = 0) -> dict[str, Any]:
    """Return the row of that product."""
    return timed(what="product", variant=variant, N=N, TILE=16, padding=padding)


def product_counts(variant: str, padding: int = 0) -> tuple[float, float, float]:
    """Return millions, at N = 1024: sectors that loads ask of the L1, and the L1 of the L2, and wavefronts of shared memory."""
    row, = data.readings("coalescing").find(what="count", variant=variant, TILE=16, padding=padding)
    wavefronts = row["shared_load_wavefronts"] + row["shared_store_wavefronts"]
    return row["load_sectors"] / 1e6, row["l2_sectors_read"] / 1e6, wavefronts / 1e6


@style.styled
def fetch_chart() -> Picture:
    """Draw the time of the copy at every stride, and points of those strides that were recorded with another fetch size of the L2."""
    strides = range(1, 33)
    ax = style.axes(width=9.0, height=4.6)
    ax.plot(strides, [copy_us(s) for s in strides], color=style.CYCLE[0], marker=style.MARKERS[0], label="as it is: 64 bytes")
    for i, limit in ((1, 128), (2, 32)):
        ax.plot(APART, [limited_us(s, limit) for s in APART], linestyle="none", color=style.CYCLE[i], marker=style.MARKERS[i],
                markersize=9, label=f"{limit} bytes")
    ax.set(xlabel=f"stride, floats\n2²⁶ floats. {label()}", ylabel="µs", ylim=(0, None))
    ax.set_title("The same copy, with three fetch sizes of the L2")
    ax.set_xticks([1, *range(4, 33, 4)])
    ax.grid(axis="y")
    ax.legend(frameon=True, framealpha=1, edgecolor="none", title="L2 may fetch at once")
    said = [f"{limit} bytes: " + ", ".join(f"{limited_us(s, limit):,.0f} at {s}" for s in APART) for limit in LIMITS]
    return render(ax, "Microseconds of a copy against the stride, for three fetch sizes of the L2. " + ". ".join(said) + ".")


def fetches() -> Table:
    """Return what copies read from memory and how long they take, by the L2's fetch size."""
    rows = [(stride, *(f"{fetched_mb(stride, limit):,.0f}" for limit in LIMITS), *(f"{limited_us(stride, limit):,.0f}" for limit in LIMITS))
            for stride in APART[3:]]
    header = ("stride", *(f"MB, {limit} bytes" for limit in LIMITS), *(f"µs, {limit} bytes" for limit in LIMITS))
    return Table(header, rows, "By the fetch size of the L2. MB: 10⁶ bytes read from memory by a copy of 2²⁴ floats, counted by Nsight "
                               f"Compute. µs: a copy of 2²⁶ floats. {label()}")


def under_way() -> Table:
    """Return the times of copies with stride 1 by the bytes that a thread loads before its first store, and how it loads them."""
    rows = []
    for size in UNDER_WAY:
        together = [f"{loads_us(VEC, size // (4 * VEC)):.0f}" if 1 <= size // (4 * VEC) <= (8 if VEC == 1 else 4) else ""
                    for VEC in (1, 2, 4)]
        alone = f"{loads_us(1, size // 4, together=False):.0f}" if 8 <= size <= 32 else ""
        rows.append((size, *together, alone))
    header = ("bytes per thread", "loads of 1 float", "of 2 floats", "of 4 floats", "of 1 float, each stored before the next")
    return Table(header, rows, "µs of a copy of 2²⁶ floats, stride 1. All loads of a thread come before its first store, except in the "
                               f"last column. {label()}")
