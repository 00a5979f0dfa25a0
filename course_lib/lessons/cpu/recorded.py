"""What was recorded on one core of a CPU: how fast it reads, and how far each program comes."""

from typing import Any

from course_lib import data
from course_lib.lessons.cpu.variants import LARGE, PADDED, YOURS
from course_lib.plots import Table, bars, render, style
from course_lib.plots.picture import Picture
from course_lib.run import CpuPeak

N = LARGE
SIX = "six_loops"


def recording() -> data.Readings:
    """Return what `python -m tools record cpu` has recorded."""
    return data.readings("cpu_roof")


def row(kernel: str, N: int = N, ld: int = 0, parameters: dict[str, int] | None = None) -> dict[str, Any]:
    """Return the recorded row of a program; `ld`: elements from one row to the next, N unless told otherwise."""
    return next(iter(recording().find(what="program", kernel=kernel, N=N, ld=ld or N, parameters=parameters or {})))


def gflops(found: dict[str, Any]) -> float:
    """Return 10**9 operations a second of a recorded row, a multiply-add as two, in its middle round.

    The roofs are the fastest samples of all, and the core is not equally fast in all rounds: a program's fastest round may have had a
    faster core than any sample of a roof.
    """
    return 2 * found["N"] ** 3 / found["median_s"] / 1e9


def label() -> str:
    """Say how the times were taken, and where."""
    rounds = recording().find(what="conditions")[0]["rounds"]
    return f"one thread, the middle one of {rounds} times, {recording().label}"


def peak() -> CpuPeak:
    """Return the recorded roofs."""
    found = recording()
    by_vector = {r["vector"]: r["gflops"] for r in found.find(what="peak")}
    vector = max(by_vector, key=by_vector.__getitem__)
    read = {r["kib"]: r["gb_s"] for r in found.find(what="read")}
    return CpuPeak("float32", 1, by_vector[vector], vector, read, found.label, by_vector)


def size(kib: int) -> str:
    """Write so many KiB.

    >>> size(384), size(6144)
    ('384 KiB', '6 MiB')
    """
    return f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB"


@style.styled
def read_rates() -> Picture:
    """Draw how many bytes a second one core reads, when it goes through little or much data over and over."""
    found, caches = peak(), [r["kib"] for r in recording().find(what="cache")]
    where = ("first cache", "second cache", "third cache", "main memory")          # the smallest that is large enough
    values = {f"{size(kib)}: {where[sum(kib > cache for cache in caches)]}": rate for kib, rate in found.bandwidth.items()}
    ax = bars(values, style.axes(width=7.6, height=2.8), unit=f"GB/s that our reading loop got,\n{found.label}")
    said = ", ".join(f"{name} {rate:.0f}" for name, rate in values.items())
    return render(ax, "GB/s that our reading loop got on one core, by the amount of data that it goes through over and over, "
                      f"{found.label}: {said}.")


def ms(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return the best, the median and the worst of a row in milliseconds, as texts."""
    values = (1e3 * found[f"{name}_s"] for name in ("best", "median", "worst"))
    best, median, worst = (f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values)
    return best, median, worst


def gain() -> float:
    """Return how many times as fast as ikj the lesson's loops in blocks of 16 × 16 are with the longer rows, of the medians."""
    return round(row("gemm_ikj", ld=PADDED)["median_s"] / row(SIX, ld=PADDED, parameters=YOURS)["median_s"], 2)


def vector_times() -> Table:
    """Return a table of two orders on matrices that fit into the first cache, with and without the compiler's vectors."""
    found = {(r["kernel"], r["vectors"]): r for r in recording().find(what="vectors")}
    rows = []
    for name in ("gemm_ijk", "gemm_ikj"):
        median = [1e6 * found[name, wide]["median_s"] for wide in (False, True)]
        rows.append((name[-3:], *(f"{us:.1f}" for us in median), f"{median[0] / median[1]:.2f}"))
    header = ("order", "no vectors: median, µs", "vectors: median, µs", "ratio")
    return Table(header, rows, f"48 × 48 matrices, {label()}")


def fastest(kernel: str, ld: int) -> dict[str, Any]:
    """Return the recorded row of a program with the vectors that suit it best; `ld`: floats from one row to the next."""
    return min(recording().find(what="program", kernel=kernel, N=N, ld=ld), key=lambda found: found["median_s"])


def climb_rows() -> list[tuple[str, dict[str, Any]]]:
    """Return (name, row) of the steps of the lesson, in its order."""
    blocks = [(f"{b} × {b}, longer rows", row(SIX, ld=PADDED, parameters=YOURS | {"BI": b, "BJ": b, "BK": b})) for b in (16, 64)]
    return [("ikj", row("gemm_ikj")), ("16 × 16", row(SIX, parameters=YOURS)), *blocks,
            ("gemm_vectors, longer rows", fastest("gemm_vectors", PADDED)), ("gemm_packed", fastest("gemm_packed", N))]


@style.styled
def climb() -> Picture:
    """Draw the speed of the steps of the lesson, and the fastest arithmetic as a line."""
    roof, found = peak().gflops, climb_rows()
    speeds, at = [gflops(r) for _, r in found], range(len(found))
    ax = style.axes(width=7.6, height=4.4)
    drawn = ax.barh(at, speeds, color=style.BLUE, height=0.56)
    ax.bar_label(drawn, [f"{speed:.3g}" for speed in speeds], padding=5, fontsize=12)
    ax.texts[-1].set(ha="right", position=(-5, 0), color=style.text_on(style.BLUE))                   # inside its bar, away from the line
    ax.axvline(roof, color=style.INK, linestyle="--", linewidth=1.5)
    ax.text(roof - 3, -0.6, f"fastest measured, {roof:.0f}", ha="right", va="bottom", fontsize=12)
    ax.set_yticks(at, [f"{name}: {ms(r)[1]} ms" for name, r in found], fontsize=12)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1.05 * roof), ylim=(len(found) - 0.5, -1.1), title=f"{N} × {N} matrices",
           xlabel=f"GFLOP/s of one core,\n{recording().label}")
    said = "; ".join(f"{name} {ms(r)[1]} ms, {gflops(r):.3g} GFLOP/s, {gflops(r) / roof:.0%} of it" for name, r in found)
    return render(ax, f"Speed of one core, {recording().label}; the fastest arithmetic measured is {roof:.0f} GFLOP/s: {said}.")
