"""What the kernels of lesson 04 take: recorded times beside counters, and beside what the model says they take at least."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_lib import data
from course_lib.lessons.tiling.counts import counted
from course_lib.plots import Table, bars, render, style
from course_lib.plots.picture import Picture
from course_lib.run import bound_of

N_TIMED, N_PROFILED, N_COUNTED = 4096, 1024, 256
VARIANTS = ("naive", "tiled")
PAIRS = tuple((variant, T) for T in (16, 32) for variant in VARIANTS)           # of like blocks: only tiling differs
SIZES = (256, 512, 1024, 2048, 4096)
INITIAL, TILING = (0.13, 0.13, 0.19, 0.45, 3.60), (0.11, 0.11, 0.15, 0.41, 3.50)          # Lee's slides, seconds on a GTX 690
ON_CHIP = ("shared", "L1", "L1 banks")       # of the model's terms: all go through the memory of a multiprocessor


def product(variant: str, T: int, N: int, what: str = "product") -> dict[str, Any]:
    """Return what was recorded of the naive or the tiled kernel in blocks of T × T: its time, or what a profiler counted ("count")."""
    row, = data.readings("coalescing").find(what=what, variant=variant, TILE=T, N=N, padding=0)
    return row


def seconds(variant: str, T: int, N: int = N_TIMED) -> float:
    """Return the recorded time of the naive or the tiled kernel in blocks of T × T.

    >>> seconds("naive", 16), seconds("tiled", 16)
    (0.025354, 0.017636)
    """
    return float(product(variant, T, N)["median_s"])


def named(variant: str, T: int) -> str:
    """Name a kernel as the tables do."""
    return f"{variant}, blocks of {T}\u00a0×\u00a0{T}"


def sectors(variant: str, T: int) -> float:
    """Return the sectors that a kernel loads per multiply-add, counted by the simulator."""
    return counted(variant, T, N_COUNTED).count("sectors") / N_COUNTED**3


def faster(T: int) -> float:
    """Return how many times faster tiling makes the naive kernel in blocks of T × T.

    >>> faster(16)
    1.44
    """
    return round(seconds("naive", T) / seconds("tiled", T), 2)


def scoreboard() -> Picture:
    """Draw the ladder so far, in blocks of 16 × 16: sectors per multiply-add, times, and speeds in percent of the library's."""
    ladder = data.load("ladder")
    best = ladder.find("cuBLAS", N_TIMED)[0]
    loads = {f"{variant} kernel": sectors(variant, 16) for variant in VARIANTS}
    taken = {f"{variant} kernel": 1e3 * seconds(variant, 16) for variant in VARIANTS} | {"NVIDIA's cuBLAS": 1e3 * best.seconds}
    times = [f"{ms:.1f} ms ({1e3 * best.seconds / ms:.1%})" for ms in taken.values()]
    fewer, quicker = f"Sectors: {loads['naive kernel'] / loads['tiled kernel']:g} times fewer", f"Time: {faster(16)} times faster"
    label, repeats = data.readings("coalescing").label, [best.repeats, *(product(name, 16, N_TIMED)["repeats"] for name in VARIANTS)]
    figure = _pair(loads, taken, times, (
        (fewer, f"sectors per multiply-add,\nsimulated for N = {N_COUNTED}"),
        (quicker, f"ms, and % of cuBLAS's speed, for N = {N_TIMED},\n{label};\ncuBLAS: {ladder.date}")))
    said = "; ".join(f"{name}, {f'{loads[name]:.4f} sectors, ' if name in loads else ''}{time}"
                     for name, time in zip(taken, times, strict=True))
    return render(figure, f"Bars: sectors per multiply-add, time, and speed in percent of cuBLAS's. {said}. {fewer}. {quicker}. Blocks of "
                          f"16 × 16; sectors simulated for N = {N_COUNTED}; times for N = {N_TIMED}, {label}, that of cuBLAS on another "
                          f"day, {ladder.date}; medians of {min(repeats)} to {max(repeats)} measurements.")


@style.styled
def _pair(loads: Mapping[str, float], taken: Mapping[str, float], times: Sequence[str], heads: Sequence[tuple[str, str]]) -> Figure:
    """Draw the sectors on the left and the times on the right, one kernel below the other; `heads`: the title and the foot of both."""
    figure = Figure(figsize=(11.2, 4.2), dpi=style.DPI, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    colours, counts = (style.GREY, style.BLUE, style.ORANGE), [f"{each:.4f}" for each in loads.values()]
    for ax, values, said, wide, (title, foot) in ((left, loads, counts, 1.3, heads[0]), (right, taken, times, 1.8, heads[1])):
        drawn = ax.barh(range(len(values)), list(values.values()), color=colours[:len(values)], height=0.66)
        ax.bar_label(drawn, said, padding=5, fontsize=15)
        ax.set(xlim=(0, wide * max(values.values())), xlabel=foot)         # the labels need the space
        ax.set_title(title, weight="bold", fontsize=17)
        ax.tick_params(left=False, bottom=False, labelbottom=False)
        ax.spines["bottom"].set_visible(False)
    left.set_yticks(range(len(taken)), [name.replace(" ", "\n") for name in taken], fontsize=15)
    left.invert_yaxis()
    left.text(0, len(loads), " not counted", fontsize=13, va="center")
    return figure


def asked_of(cache: str, variant: str) -> float:
    """Return the millions of sectors that were asked of "L1" or "L2" by the naive or the tiled kernel in blocks of 16 × 16.

    >>> asked_of("L2", "tiled")
    12.9
    """
    what = {"L1": "load_sectors", "L2": "l2_sectors_read"}[cache]
    return round(product(variant, 16, N_PROFILED, "count")[what] / 1e6, 1)


def asked() -> Picture:
    """Draw how many sectors both kernels ask of L1, and L1 of L2, in blocks of 16 × 16, counted by ncu."""
    found = {f"{variant}: asked of {cache}": asked_of(cache, variant) for cache in ("L1", "L2") for variant in VARIANTS}
    where = f"{N_PROFILED} × {N_PROFILED} matrices, blocks of 16 × 16,\n{data.readings('coalescing').label}"
    ax = bars(found, unit=f"millions of sectors, {where}")
    for number, bar in enumerate(ax.patches):
        bar.set_facecolor(style.BLUE if number % 2 else style.GREY)
    return render(ax, f"Bars, millions of sectors. {'; '.join(f'{name}, {millions:g}' for name, millions in found.items())}.")


def traffic() -> Table:
    """Return how far the loads of both kernels came, counted by ncu: sectors of L1 and of L2, bytes of DRAM; and their times."""
    rows = []
    for variant, T in PAIRS:
        row = product(variant, T, N_PROFILED, "count")
        counts = (f"{row[what] / 1e6:,.1f}" for what in ("load_sectors", "l2_sectors_read", "dram_bytes_read"))
        rows.append((named(variant, T), *counts, f"{1e6 * seconds(variant, T, N_PROFILED):.0f}"))
    return Table(("kernel", "sectors asked of L1, millions", "sectors asked of L2, millions", "bytes from DRAM, millions", "recorded, µs"),
                 rows, f"{N_PROFILED} × {N_PROFILED} matrices, {data.readings('coalescing').label}")


def limits() -> Table:
    """Return, for both kernels, the recorded time beside the least that two parts of a multiprocessor need for their share, modelled."""
    rows = []
    for variant, T in PAIRS:
        least = bound_of(counted(variant, T, N_PROFILED)).terms
        parts = (seconds(variant, T, N_PROFILED), max(least[term] for term in ON_CHIP), least["fma"])
        rows.append((named(variant, T), *(f"{1e6 * part:.0f}" for part in parts)))
    header = ("kernel", "recorded, µs", "L1 and shared memory alone, µs", "multiply-adds alone, µs")
    return Table(header, rows, f"{N_PROFILED} × {N_PROFILED} matrices: {data.readings('coalescing').label}, and the least that each part "
                               "needs, modelled for H200")


def slides() -> Table:
    """Return the slides' times on a GTX 690, and how many times faster tiling made the kernel there and here."""
    rows = [(n, f"{before:.2f}", f"{after:.2f}", f"{before / after:.2f}" if n >= N_PROFILED else "", gain(n))
            for n, before, after in zip(SIZES, INITIAL, TILING, strict=True)]
    return Table(("N", "slides: Initial, s", "slides: Tiling, s", "slides: faster", "H200: faster"), rows,
                 f"Slides: GTX 690. H200: {data.load('lee').label}")


def gain(n: int) -> str:
    """Return how many times faster the kernel with tiles of 16 × 16 was than the naive one in blocks of 16 × 16."""
    naive, tiled = (data.load("lee").find(kernel, n)[0].seconds for kernel in ("sgemm_naive", "sgemm_tiled"))
    return f"{naive / tiled:.2f}"
