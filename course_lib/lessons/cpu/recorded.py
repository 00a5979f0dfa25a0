"""What was recorded on one core of a CPU: how fast it reads, what blocks are worth, how far each program comes, and its roofs."""

from typing import Any

from course_lib import data
from course_lib.plots import Table, bars, render, style
from course_lib.plots.cpu_roofline import cpu_roofline, describe_cpu_roofline
from course_lib.plots.picture import Picture
from course_lib.run import CpuPeak

N, SMALL, LINE = 2048, 256, 64
BEST = {"BI": 256, "BJ": 2048, "BK": 16}
LADDER = (("gemm_ijk: three loops", "gemm_ijk", {}), ("gemm_ikj: three loops, best order", "gemm_ikj", {}),
          ("gemm_blocked: six loops, 16 rows of B at a time", "gemm_blocked", BEST),
          ("gemm_vectors: 6 × 16 elements of C in registers", "gemm_vectors", None),
          ("gemm_packed: registers, and blocks that are copied", "gemm_packed", None), ("NumPy's library", "blas", None))


def recording() -> data.Readings:
    """Return what tools/record_cpu.py has recorded."""
    return data.readings("cpu_roof")


def row(kernel: str, N: int, parameters: dict | None = None) -> dict[str, Any]:
    """Return the recorded row of a program; parameters may be left out where there is one row."""
    found = recording().find(what="program", kernel=kernel, N=N)
    return next(r for r in found if parameters is None or r["parameters"] == parameters)


def gflops(found: dict[str, Any]) -> float:
    """Return 10**9 operations a second of a recorded row, a multiply-add as two."""
    return 2 * found["N"] ** 3 / found["best_s"] / 1e9


def peak() -> CpuPeak:
    """Return the recorded roofs."""
    found = recording()
    by_vector = {r["vector"]: r["gflops"] for r in found.find(what="peak")}
    vector = max(by_vector, key=by_vector.get)
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
    found = peak()
    values = {size(kib): rate for kib, rate in found.bandwidth.items()}
    ax = bars(values, style.axes(width=7.0, height=3.2), unit=f"GB/s that one core reads,\n{found.label}",
              title="How much data it goes through")
    said = ", ".join(f"{name} {rate:.0f}" for name, rate in values.items())
    return render(ax, f"GB/s that one core reads, by the amount of data that it goes through over and over, {found.label}: {said}.")


def recorded_ms(BI: int, BJ: int, BK: int) -> float:
    """Return the recorded milliseconds of loops in blocks of BI × BJ elements of C and BK terms."""
    return round(1e3 * row("gemm_blocked", N, {"BI": BI, "BJ": BJ, "BK": BK})["best_s"])


def block_times() -> Table:
    """Return a table of recorded times of loops in blocks, square and long ones."""
    plain = row("gemm_ikj", N)["best_s"]
    found = [("ikj, without blocks", "", N, plain)]
    chosen = [r for r in recording().find(what="program", kernel="gemm_blocked", N=N) if r["parameters"]]
    for r in chosen:
        BI, BJ, BK = (r["parameters"][name] for name in ("BI", "BJ", "BK"))
        found.append((f"{BI} × {BJ}, {BK} at a time", f"{4 * BK * BJ / 1024:g}", BJ, r["best_s"]))
    rows = [(name, kib, BJ, f"{1e3 * s:.0f}", f"{plain / s:.2f}") for name, kib, BJ, s in found]
    header = ("block of C (BI × BJ), BK", "block of B, KiB", "turns of the inner loop", "ms", "times as fast as ikj")
    return Table(header, rows, f"{N} × {N} matrices, one core, fastest of several runs, {recording().label}")


def scoreboard() -> Table:
    """Return how far each program comes: its time, its speed, and its share of the library's and of the peak."""
    rows, library, most = [], row("blas", N)["best_s"], peak().gflops
    for name, kernel, parameters in LADDER:
        found = row(kernel, N, parameters)
        seconds, speed = found["best_s"], gflops(found)
        rows.append((name, f"{1e3 * seconds:,.0f}", f"{speed:.1f}", f"{library / seconds:.1%}", f"{speed / most:.1%}"))
    header = ("program", "ms", "GFLOP/s", "speed, % of the library", "% of the peak")
    caption = f"{N} × {N} matrices, one core, fastest of several runs; the peak is {most:.0f} GFLOP/s; all {recording().label}"
    return Table(header, rows, caption)


def points() -> dict[str, tuple[float, float]]:
    """Return, by name, (operations per byte, GFLOP/s) of the programs whose lines were counted; the library's as few as there can be."""
    found = {r["kernel"]: (2 * SMALL**3 / (LINE * r["lines"]), gflops(r))
             for r in recording().find(what="program", N=SMALL) if r.get("lines")}
    library = row("blas", SMALL)
    return found | {"blas": (2 * SMALL**3 / (12 * SMALL**2), gflops(library))}


def roofline() -> Picture:
    """Draw the recorded roofline, with the programs below it."""
    roofs, drawn = peak(), points()
    return render(cpu_roofline(roofs, drawn), describe_cpu_roofline(roofs, drawn))
