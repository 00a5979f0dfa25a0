"""What was recorded on one core of a CPU: how fast it reads, what blocks are worth, how far each program comes, and its roofs."""

from itertools import pairwise
from typing import Any

from course_lib import data
from course_lib.lessons.cpu.roofline import cpu_roofline, describe_cpu_roofline
from course_lib.lessons.cpu.variants import K_OUTSIDE, LARGE, PADDED, ROWS_OF_B, SMALL, SQUARES, WITH_ENDS, YOURS
from course_lib.plots import Table, bars, render, style
from course_lib.plots.picture import Picture
from course_lib.run import CpuPeak

N, LINE, SECOND = LARGE, 64, 384          # SECOND: KiB that fit into the second cache
SIX = "six_loops"
NAMES = {"gemm_ijk": "three loops, ijk", "gemm_ikj": "three loops, ikj", "gemm_vectors": "gemm_vectors", "gemm_packed": "gemm_packed"}


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


def conditions() -> Table:
    """Return a table of everything that the times depend on, and that we know."""
    found, = recording().find(what="conditions")
    caches = ", ".join(f"{size(r['kib'])} of {r['ways']} lines per set" for r in recording().find(what="cache"))
    known = f" (family {found['family']}, model {found['model']})" if found["family"] else ""
    rows = [("CPU", f"{found['cpu']}{known}"), ("caches, first to last", caches), ("compiler", found["compiler"]),
            ("its options", found["options"]), ("threads", "1"),
            ("NumPy and its library", f"{found['numpy']}, {found['library']}, inner loops for {found['kernels']}"),
            ("a time is", "the CPU time of the one thread"), ("rounds", f"{found['rounds']}; in each, all programs in turn"),
            ("waiting programs before", f"{found['load']:g} on average"), ("date", recording().date)]
    return Table(("what", "recorded with"), rows)


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
    found = peak()
    values = {size(kib): rate for kib, rate in found.bandwidth.items()}
    ax = bars(values, style.axes(width=6.4, height=2.8), unit=f"GB/s that our reading loop got,\n{found.label}",
              title="How much data it goes through")
    said = ", ".join(f"{name} {rate:.0f}" for name, rate in values.items())
    return render(ax, "GB/s that our reading loop got on one core, by the amount of data that it goes through over and over, "
                      f"{found.label}: {said}.")


def ms(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return the best, the median and the worst of a row in milliseconds, as texts."""
    values = (1e3 * found[f"{name}_s"] for name in ("best", "median", "worst"))
    best, median, worst = (f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values)
    return best, median, worst


def gain() -> float:
    """Return how many times as fast as ikj the lesson's loops in blocks of 16 × 16 are, of the medians."""
    return round(row("gemm_ikj")["median_s"] / row(SIX, parameters=YOURS)["median_s"], 2)


def said(parameters: dict[str, int]) -> str:
    """Say which block a row is about.

    >>> said({"BI": 256, "BJ": 64, "BK": 16})
    '256 × 64, 16 at a time'
    """
    return f"{parameters['BI']} × {parameters['BJ']}, {parameters['BK']} at a time"


def blocks_timed() -> list[dict[str, int]]:
    """Return the blocks that were timed without further changes."""
    return [YOURS | {"BI": b, "BJ": b, "BK": b} for b in SQUARES] + ROWS_OF_B


def block_times() -> Table:
    """Return a table of recorded times of loops, with rows that begin a power of two apart and with rows a line longer."""
    named = [("ijk", "gemm_ijk", {}), ("ikj", "gemm_ikj", {}), *((said(p), SIX, p) for p in blocks_timed()),
             (f"{said(YOURS)}, any size", SIX, WITH_ENDS), (f"{said(YOURS)}, k outside of i", SIX, K_OUTSIDE)]
    rows = []
    for name, kernel, parameters in named:
        near, far = (row(kernel, ld=ld, parameters=parameters) for ld in (N, PADDED))
        kib = f"{4 * parameters['BK'] * parameters['BJ'] / 1024:g}" if parameters else ""
        rows.append((name, kib, ms(near)[1], ms(far)[1], f"{near['median_s'] / far['median_s']:.2f}"))
    header = ("loops", "block of B, KiB", f"rows of {N}, ms", f"rows of {PADDED}, ms", "ratio")
    return Table(header, rows, f"{N} × {N} matrices, {label()}")


def vector_times() -> Table:
    """Return a table of two orders on matrices that fit into the first cache, with and without the compiler's vectors."""
    found = {(r["kernel"], r["vectors"]): r for r in recording().find(what="vectors")}
    rows = []
    for name in ("gemm_ijk", "gemm_ikj"):
        median = [1e6 * found[name, wide]["median_s"] for wide in (False, True)]
        rows.append((name[-3:], *(f"{us:.1f}" for us in median), f"{median[0] / median[1]:.2f}"))
    header = ("order", "no vectors: median, µs", "vectors: median, µs", "ratio")
    return Table(header, rows, f"48 × 48 matrices, {label()}")


def ladder() -> list[tuple[str, dict[str, Any]]]:
    """Return (name, row) of all programs whose rows begin N floats apart, from the plain loops to the library."""
    found = [r for r in recording().find(what="program", N=N, ld=N) if r["kernel"] != SIX]
    blocks = min((row(SIX, parameters=p) for p in blocks_timed()), key=lambda r: r["median_s"])
    named = [(NAMES[r["kernel"]], r) for r in found if r["kernel"] in ("gemm_ijk", "gemm_ikj")]
    named += [("your loops, six of them", row(SIX, parameters=YOURS)), (f"six loops, {said(blocks['parameters'])}", blocks)]
    for r in found:
        if r["kernel"] in ("gemm_vectors", "gemm_packed"):
            named.append((f"{r['kernel']}, vectors of {r['parameters'].get('VB', 32) // 4} floats", r))
    for r in found:
        if r["kernel"] == "blas":
            wide = {"Haswell": 8, "SkylakeX": 16}[r["parameters"]["kernels"]]
            choice = "its own choice" if r["parameters"]["chosen"] else "told so"
            named.append((f"the library, vectors of {wide} floats ({choice})", r))
    return named


def climb_rows() -> list[tuple[str, dict[str, Any]]]:
    """Return (name, row) of the steps of the lesson, slowest first."""
    steps = dict(ladder())
    blocks = [(f"{b} × {b}, longer rows", row(SIX, ld=PADDED, parameters=YOURS | {"BI": b, "BJ": b, "BK": b})) for b in (16, 64)]
    vectors, packed = (steps[f"{name}, vectors of 16 floats"] for name in ("gemm_vectors", "gemm_packed"))
    return [("ijk", steps["three loops, ijk"]), ("ikj", steps["three loops, ikj"]), *blocks,
            ("gemm_vectors, longer rows", with_longer_rows(vectors)), ("gemm_packed", packed)]


@style.styled
def climb() -> Picture:
    """Draw the speed of the steps of the lesson, the factor of each step between its bars, and the fastest arithmetic as a line."""
    roof, found = peak().gflops, climb_rows()
    speeds, at = [gflops(r) for _, r in found], range(len(found))
    ax = style.axes(width=7.6, height=4.0)
    drawn = ax.barh(at, speeds, color=style.BLUE, height=0.56)
    ax.bar_label(drawn, [f"{speed:.3g}" for speed in speeds], padding=5, fontsize=12)
    ax.texts[-1].set(ha="right", position=(-5, 0), color=style.text_on(style.BLUE))                   # inside its bar, away from the line
    for below, (slow, fast) in enumerate(pairwise(speeds), 1):
        ax.text(2, below - 0.5, f"× {fast / slow:.2g}", va="center", fontsize=11)
    ax.axvline(roof, color=style.INK, linestyle="--", linewidth=1.5)
    ax.text(roof - 3, -0.6, f"fastest measured, {roof:.0f}", ha="right", va="bottom", fontsize=12)
    ax.set_yticks(at, [f"{name}: {ms(r)[1]} ms" for name, r in found], fontsize=12)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1.05 * roof), ylim=(len(found) - 0.5, -1.1), title=f"{N} × {N} matrices",
           xlabel=f"GFLOP/s of one core,\n{recording().label}")
    said = "; ".join(f"{name} {ms(r)[1]} ms, {gflops(r):.3g} GFLOP/s, {gflops(r) / roof:.0%} of it" for name, r in found)
    return render(ax, f"Speed of one core, {recording().label}; the fastest arithmetic measured is {roof:.0f} GFLOP/s: {said}.")


def with_longer_rows(found: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the same program with rows that begin PADDED floats apart."""
    return next(iter(recording().find(**{name: found[name] for name in ("what", "kernel", "N", "parameters")}, ld=PADDED)))


def scoreboard() -> Table:
    """Return how far each program comes with both distances of rows: its times, the better speed, and its share of the peak."""
    roof, rows = peak(), []
    for name, near in ladder():
        both = near, with_longer_rows(near)
        rows.append((name, *(ms(r)[1] for r in both), f"{max(map(gflops, both)):.1f}", f"{max(map(gflops, both)) / roof.gflops:.0%}"))
    header = ("program", f"rows of {N}, ms", f"rows of {PADDED}, ms", "the better one, GFLOP/s", f"% of {roof.gflops:.0f}")
    bound = f"the fastest arithmetic measured is {roof.gflops:.0f} GFLOP/s, with vectors of {roof.vector // 4} floats"
    return Table(header, rows, f"{N} × {N} matrices, {label()}; {bound}")


def points() -> dict[str, tuple[float, float]]:
    """Return, by name, (operations per byte, GFLOP/s) of the programs whose lines were counted; gemm_packed's as few as there can be."""
    found = {("your loops" if r["kernel"] == SIX else r["kernel"][-3:]): (2 * SMALL**3 / (LINE * r["lines"]), gflops(r))
             for r in recording().find(what="program", N=SMALL) if r.get("lines")}
    packed = max(recording().find(what="program", kernel="gemm_packed", N=SMALL), key=gflops)
    return found | {"gemm_packed": (2 * SMALL**3 / (12 * SMALL**2), gflops(packed))}


def second_roof() -> CpuPeak:
    """Return the recorded roofs of what the second cache delivers, at best, to the first."""
    found = peak()
    return CpuPeak(found.dtype, found.threads, found.gflops, found.vector, {SECOND: found.bandwidth[SECOND]}, found.label, found.by_vector)


def roofline() -> Picture:
    """Draw the recorded roofline of the lines that come into the first cache, with the programs below it."""
    roofs, drawn = second_roof(), points()
    ax = cpu_roofline(roofs, drawn, style.axes(width=7.8, height=4.0))
    ax.set_xlabel("operations per byte that comes into the first cache")
    return render(ax, describe_cpu_roofline(roofs, drawn).replace("a byte", "per byte that comes into the first cache"))
