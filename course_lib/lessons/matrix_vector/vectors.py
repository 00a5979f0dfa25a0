"""Koppelman's tables of a small matrix times many vectors beside recorded ones, and pictures of what his bars show."""

import textwrap
from collections.abc import Mapping

from matplotlib.axes import Axes

from course_lib import data, kernels
from course_lib.arch import WARP, device
from course_lib.data import documents
from course_lib.lessons.matrix_vector.kernel_table import kernel_resources
from course_lib.model import matvec
from course_lib.plots import style
from course_lib.run import VectorsResult
from course_lib.run.table import Table

THEIRS, OURS = device("Quadro M2200"), device("H200")      # his, and the one that was recorded


def family() -> tuple[str, ...]:
    """Return the names of the eight kernels, in the homework's order."""
    return tuple(name for name, kernel in kernels.ALL.items() if kernel.kind == "vectors")


def recorded_rates(what: str = "gb_s") -> dict[str, dict[int, float]]:
    """Return kernel -> {warps a block: GB/s} of the recorded sweep: 2^20 vectors, M = N = 16, a block for each multiprocessor.

    >>> sorted(recorded_rates()["mxv_vls"])
    [4, 8, 12, 16, 20, 24, 28, 32]
    """
    found: dict[str, dict[int, float]] = {}
    for record in data.load("mxv").records:
        found.setdefault(record.kernel, {})[record.parameters["threads"] // WARP] = getattr(record, what)
    return found


def launch_table(warps: int = 32) -> Table:
    """Set Koppelman's launch table beside the same columns from an H200.

    Parameters
    ----------
    warps
        Of a block on the H200; his blocks have 32.

    Returns
    -------
    Table
        A multiply-add is one operation (GF, I/F); GB/s counts every input and output once; times recorded by events, I/F and the used
        share of loads counted by Nsight Compute.
    """
    times, counted = data.load("mxv"), data.readings("vectors")
    printed = {row[0]: row[1:] for row in documents.KOPPELMAN_LAUNCH.rows}
    rows = []
    for name in family():
        us, gf, rate, per_fma, used = printed[name]
        record = next(r for r in times.find(name) if r.parameters["threads"] == WARP * warps)
        columns = matvec.counted_columns(*counted.find(kernel=name, warps=warps))
        seconds = record.seconds
        rows.append((name, f"{us:,}", f"{1e6 * seconds:.1f}", f"{float(gf):.1f}", f"{matvec.gigafmas(seconds):,.0f}", f"{float(rate):.1f}",
                     f"{matvec.gigabytes(seconds):,.0f}", per_fma, f"{columns['I/F']:.2f}", used, f"{columns['load efficiency']:.1%}"))
    return Table(("kernel", "µs: K", "H200", "GF: K", "H200", "GB/s: K", "H200", "I/F: K", "H200", "loads used: K", "H200"), rows,
                 f"K: {documents.KOPPELMAN_LAUNCH.device}, 8 blocks of 32 warps; H200: 132 blocks of {warps} warps, {times.label}")


def resource_table(threads: int = 1024) -> Table:
    """Set Koppelman's resource table beside the same columns for an H200, at so many threads a block."""
    mine = {row[0]: row for row in kernel_resources(*family(), on=OURS, threads=threads).rows}
    rows = []
    for name, *printed in documents.KOPPELMAN_RESOURCES.rows:
        _, *ours = mine[name]
        rows.append((name, *(cell for pair in zip(printed, ours[:5], strict=True) for cell in pair), ours[6]))
    header = ("kernel", *(head for what in documents.KOPPELMAN_RESOURCES.columns[1:] for head in (f"{what}: K", "H200")), "warps an SM")
    return Table(header, rows, f"K: {documents.KOPPELMAN_RESOURCES.device}. H200: compiled for {threads} threads; occupancy modelled")


def star_table(kernel: str = "mxv_o_per_thd") -> Table:
    """Write the warp sweep of a kernel as Koppelman does, a bar of stars each: 40 stars are the whole bandwidth.

    Returns
    -------
    Table
        His own kernel has his sweep beside ours.
    """
    printed = {warps: rate for warps, _, _, _, rate in documents.KOPPELMAN_SWEEP.rows}
    theirs = kernel == "mxv_o_per_thd"
    rows = []
    for warps, rate in recorded_rates()[kernel].items():
        his = (printed[warps], matvec.bar(float(printed[warps]), THEIRS)) if theirs else ()
        rows.append((warps, *his, f"{rate:,.0f}", matvec.bar(rate, OURS)))
    header = ("warps", *(("K: GB/s", f"of {THEIRS.bandwidth_gb_s:.0f}") if theirs else ()), "H200: GB/s", f"of {OURS.bandwidth_gb_s:,.0f}")
    return Table(header, rows, f"{kernel}; K: {documents.KOPPELMAN_SWEEP.device}; H200: {data.load('mxv').label}")


def surpluses() -> dict[int, tuple[float, float]]:
    """Return what Koppelman's "p mode" leaves unexplained: warps -> GB/s read from the L2 beyond 8 times the input, from DRAM beyond once.

    >>> {warps: [round(rate, 1) for rate in both] for warps, both in surpluses().items()}[4]
    [1.8, 1.9]
    """
    return {warps: (matvec.surplus(l2, us * 1e-6, times=matvec.SECTOR // matvec.FLOAT), matvec.surplus(dram, us * 1e-6))
            for warps, _, us, _, l2, _, dram, *_ in documents.KOPPELMAN_COUNTED.rows}


def p_mode_table() -> Table:
    """Set Koppelman's "p mode" in multiples of the input, with what is read beyond 8 times and beyond once."""
    rows, extra = [], surpluses()
    for warps, _, us, _, l2, l2_written, dram, dram_written, _ in documents.KOPPELMAN_COUNTED.rows:
        times = (f"{matvec.times_ideal(rate, us * 1e-6):.1f}" for rate in (l2, dram))
        (from_l2, from_dram), (over_l2, over_dram) = times, (f"{rate:.1f}" for rate in extra[warps])
        rows.append((warps, f"{us:,}", from_l2, over_l2, from_dram, over_dram, l2_written, dram_written))
    return Table(("warps", "µs", "L2: times the input", "GB/s beyond 8", "DRAM: times", "GB/s beyond 1", "GB/s written: L2", "DRAM"), rows,
                 f"{documents.KOPPELMAN_COUNTED.place}, {documents.KOPPELMAN_COUNTED.device}, as K counted it")


def counted_table(kernel: str) -> Table:
    """Set what Nsight Compute counted of a kernel on the H200 in the columns of Koppelman's "p mode", a row for each number of warps.

    Returns
    -------
    Table
        Rates in GB/s, of what was asked for at that level; the last column counts every input and output once.
    """
    counted, rows = data.readings("vectors"), []
    for row in counted.find(kernel=kernel):
        found = matvec.counted_columns(row)
        rates = (f"{found[name]:,.0f}" for name in ("GF", "L2 read", "L2 write", "DRAM read", "DRAM write", "GB/s"))
        gf, *rest = rates
        rows.append((row["warps"], f"{found['us']:.0f}", gf, f"{found['load efficiency']:.1%}", *rest))
    return Table(("warps", "µs", "GF", "Ld eff", "L2 read", "L2 write", "DRAM read", "DRAM write", "GB/s"), rows,
                 f"{kernel}, \"p mode\", {counted.label}")


@style.styled
def warp_bars(rates: Mapping[str, Mapping[int, float]], bandwidth: float, printed: Mapping[str, Mapping[int, float]] | None = None, *,
              note: str = "", width: float = 12.6, height: float = 6.6) -> Axes:
    """Draw a warp sweep: a panel for each kernel, a bar for each number of warps, full length at the device's bandwidth.

    Parameters
    ----------
    rates
        By kernel, {warps: GB/s}.
    bandwidth
        GB/s.
    printed
        By kernel, {warps: share}, of another device, 0 to 1: hollow bars over the others.
    note
        Below: where the numbers are from.

    Returns
    -------
    Axes
        The first panel.
    """
    first = style.axes(width=width, height=height)
    figure = first.figure
    first.remove()
    columns = min(4, len(rates))
    grid = figure.subplots(-(-len(rates) // columns), columns, squeeze=False, sharex=True).ravel()
    for ax, (name, line) in zip(grid, rates.items(), strict=False):
        warps = sorted(line)
        at = range(len(warps))
        ax.barh(at, [1] * len(warps), color=style.PALE, height=0.8)
        ax.barh(at, [line[w] / bandwidth for w in warps], color=style.BLUE, height=0.8)
        for place, w in zip(at, warps, strict=True):
            if w in (theirs := (printed or {}).get(name, {})):
                ax.barh(place, theirs[w], height=0.8, facecolor="none", edgecolor=style.VERMILION, linewidth=2)
        best = _best(line)
        ax.text(1, warps.index(best), f"{line[best] / bandwidth:.0%}", ha="right", va="center", fontsize=12)
        ax.set_yticks(at, warps, fontsize=11)
        ax.invert_yaxis()
        ax.set(xlim=(0, 1.02), title=name)
        ax.title.set_fontsize(13)
        ax.set_xticks((0, 0.5, 1), ("0", "50 %", "100 %"))
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    for ax in grid[len(rates):]:
        ax.remove()
    for ax in grid[:len(rates)]:
        ax.set_ylabel("warps a block" if ax.get_subplotspec().is_first_col() else "", fontsize=13)
    figure.supxlabel(f"share of the bandwidth{note and ', ' + note}", fontsize=13)
    return grid[0]


def _best(line):
    """Return the number of warps with the highest rate: the largest, unless another is more than 2 % better, which is no scatter."""
    last, best = max(line), max(line, key=line.get)
    return best if line[best] > 1.02 * line[last] else last


def describe_warp_bars(rates: Mapping[str, Mapping[int, float]], bandwidth: float) -> str:
    """Return the alternative text of `warp_bars`: each kernel's ends and its best.

    >>> describe_warp_bars({"k": {4: 10.0, 8: 30.0, 12: 20.0}}, 100)
    'Share of the bandwidth by warps a block: k 10% at 4, 20% at 12, best 30% at 8.'
    """
    words = []
    for name, line in rates.items():
        best, low, high = _best(line), min(line), max(line)
        words.append(f"{name} {line[low] / bandwidth:.0%} at {low}, {line[high] / bandwidth:.0%} at {high}, "
                     f"best {line[best] / bandwidth:.0%} at {best}")
    return f"Share of the bandwidth by warps a block: {'; '.join(words)}."


def shares(result: VectorsResult) -> dict[str, float]:
    """Return what is used of what is moved: label -> share, 0 to 1, of a `VectorsResult`.

    Of load and of store requests, as counted; and of the device's bandwidth: measured on a GPU, else as recorded for 2^20 vectors,
    where this kernel was recorded with this matrix and block.
    """
    counted = {"used of what\nloads move": result.load_utilisation, "used of what\nstores move": result.store_utilisation}
    found = {label: share for label, share in counted.items() if share is not None}
    if result.gb_s:
        return found | {_wrapped(f"used bandwidth, {result.label}"): result.gb_s / device(result.device).bandwidth_gb_s}
    recording = data.load("mxv")
    for record in recording.find(result.kernel.name):
        if record.parameters == result.parameters and record.gb_s:
            found[_wrapped(f"used bandwidth, 2²⁰ vectors, {recording.label}")] = record.gb_s / OURS.bandwidth_gb_s
    return found


def _wrapped(label):
    return textwrap.fill(label, 24)


@style.styled
def share_bars(found: Mapping[str, float], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw shares as bars in a frame that is full at 100 %.

    >>> [text.get_text() for text in share_bars({"loads": 0.125}).texts]
    ['12.5 %']
    """
    ax = style.axes(ax, width=6.4, height=1.2 + 0.8 * len(found))
    at = range(len(found))
    ax.barh(at, [1] * len(found), color=style.PALE, height=0.6)
    ax.barh(at, [min(share, 1) for share in found.values()], color=[style.CYCLE[i] for i in at], height=0.6)
    for place, share in enumerate(found.values()):
        ax.text(1.02, place, f"{100 * share:.3g} %", va="center", fontsize=13)
    ax.set_yticks(at, list(found), fontsize=12)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.2), title=title or "")
    ax.set_xticks(())
    ax.tick_params(axis="y", length=0)
    ax.spines[:].set_visible(False)
    return ax


def describe_shares(found: Mapping[str, float]) -> str:
    """Return the alternative text of `share_bars`.

    >>> describe_shares({"loads": 0.125, "of the\\nstores": 1})
    'Used: loads 12.5 %, of the stores 100 %.'
    """
    return "Used: " + ", ".join(f"{label} {100 * share:.3g} %".replace("\n", " ") for label, share in found.items()) + "."


def used_picture(result: VectorsResult) -> tuple[Axes, str]:
    """Draw what is used of what a launch on many vectors moves: of loads, of stores, and of the bandwidth where it is known."""
    found = shares(result)
    ax = share_bars(found, style.axes(width=5.6, height=1.2 + 0.85 * len(found)), title=result.kernel.name)
    if len(found) == 2:
        ax.set_xlabel("bandwidth: recorded with M = N = 16 only", fontsize=12)
    return ax, describe_shares(found)
