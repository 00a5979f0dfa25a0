"""Pictures of what a clock says: a chain's time against active threads, and a load's against the size of what is read."""

from collections.abc import Mapping

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.model import ThreadSweep
from course_lib.plots import style

KIB, MIB = 1024, 1024 * 1024


@style.styled
def thread_sweeps(measured: Mapping[str, Mapping[int, float]], read: Mapping[str, ThreadSweep], ax: Axes | None = None, *,
                  title: str | None = None, label: str = "", live: Mapping[str, Mapping[int, float]] | None = None) -> Axes:
    """Draw cycles of a step against active threads: points as measured, lines as two numbers predict them.

    Of several sweeps the first has large hollow points and a thick line, so that it is seen below others that it agrees with.

    Parameters
    ----------
    measured
        By name, {threads: cycles}.
    read
        What was read from them, with a mark at each knee; a sweep that is not in it has points alone.
    label
        Where the points are from.
    live
        As `measured`, of this machine, drawn hollow.

    >>> from course_lib.model import read_sweep
    >>> points = {32: 36.0, 128: 36.0, 512: 96.0}
    >>> ax = thread_sweeps({"MAD": points}, {"MAD": read_sweep(points)})
    >>> ax.lines[0].get_xydata().tolist()                 # flat, knee, slope
    [[0.0, 36.0], [192.0, 36.0], [512.0, 96.0]]
    """
    if len(measured) > len(style.CYCLE):
        raise CourseError(f"{len(measured)} sweeps are too many to tell apart: choose up to {len(style.CYCLE)}", names=tuple(measured))
    ax = style.axes(ax, width=10.0, height=4.2)
    handles: list[Artist] = []
    for i, (name, points) in enumerate(measured.items()):
        found, colour, last, below = read.get(name), style.CYCLE[i], max(points), i == 0 and len(measured) > 1
        if found:
            ax.plot([0, WARP * found.knee, last], [found.latency, found.latency, found.cycles(last)], color=colour,
                    linewidth=4 if below else 2)
        handles += ax.plot(sorted(points), [points[x] for x in sorted(points)], linestyle="none", marker=style.marker(i), color=colour,
                           markeredgecolor=colour if below else style.INK, markeredgewidth=2.5 if below else 0.6,
                           markersize=15 if below else None, markerfacecolor="none" if below else colour, label=name, zorder=3)
        if found:
            ax.plot([WARP * found.knee], [found.latency], linestyle="none", marker="|", markersize=22, markeredgewidth=2.5,
                    color=style.INK, zorder=2)
    for name, points in (live or {}).items():
        handles += ax.plot(sorted(points), [points[x] for x in sorted(points)], linestyle="none", marker="D", markersize=12,
                           color=style.INK, markerfacecolor="none", markeredgewidth=2, label=name, zorder=4)
    if read:
        handles.append(Line2D([], [], linestyle="none", marker="|", markersize=18, markeredgewidth=2.5, color=style.INK, label="knee"))
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    ax.set_xticks(range(0, max(max(points) for points in measured.values()) + 1, 128))
    ax.grid(True)
    ax.set_axisbelow(True)
    words = "active threads of the multiprocessor" + (f"\n{label}" if label else "")
    ax.set(xlabel=words, ylabel="cycles of a step,\nslowest warp", title=title or "")
    style.legend_beside(ax, handles)
    return ax


def describe_sweeps(measured: Mapping[str, Mapping[int, float]], read: Mapping[str, ThreadSweep], label: str = "") -> str:
    """Return the alternative text of `thread_sweeps`.

    >>> from course_lib.model import ThreadSweep
    >>> describe_sweeps({"MAD": {32: 36.0, 512: 96.0}}, {"MAD": ThreadSweep(36, 6)}, "made up")
    'Cycles of a step against active threads, made up: MAD is flat at 36.0, has its knee at 192 threads, then 6.00 for each warp more, \
96.0 at 512.'
    """
    words = [f"{name} is flat at {read[name].latency:.1f}, has its knee at {WARP * read[name].knee:.0f} threads, then "
             f"{read[name].per_warp:.2f} for each warp more, {points[max(points)]:.1f} at {max(points)}" if name in read else
             f"{name}: " + ", ".join(f"{points[x]:.1f} at {x}" for x in sorted(points)) for name, points in measured.items()]
    return f"Cycles of a step against active threads{f', {label}' * bool(label)}: {'; '.join(words)}."


def size(n: int) -> str:
    """Write bytes with a unit.

    >>> size(4096), size(2**28)
    ('4 KiB', '256 MiB')
    """
    return f"{n // MIB} MiB" if n >= MIB else f"{n // KIB} KiB"


@style.styled
def ring_sizes(curves: Mapping[str, Mapping[int, float]], ends: Mapping[str, int], ax: Axes | None = None, *, title: str | None = None,
               label: str = "") -> Axes:
    """Draw cycles of a hop against the size of the ring, a curve for each order of its slots, and where each cache ends.

    Parameters
    ----------
    curves
        By name, {bytes: cycles}.
    ends
        By name, the bytes of the largest ring that a cache can hold.
    title, label
        `label` says where the figures are from.

    Returns
    -------
    Axes
        The x axis is logarithmic; vertical lines are the ends.
    """
    ax = style.axes(ax, width=10.0, height=4.2)
    for i, (name, points) in enumerate(curves.items()):
        ax.plot(sorted(points), [points[x] for x in sorted(points)], marker=style.marker(i), color=style.CYCLE[i],
                markeredgecolor=style.INK, markeredgewidth=0.6, label=name)
    ax.set_xscale("log", base=2)
    top = 1.18 * max(max(points.values()) for points in curves.values())
    ax.set_ylim(0, top)
    for name, end in ends.items():
        ax.axvline(end, color=style.INK, linestyle="--", linewidth=1.5)
        ax.text(end, 0.98 * top, f"{name} ends ", ha="right", va="top", fontsize=12)
    sizes = sorted({x for points in curves.values() for x in points})
    first, last = sizes[0].bit_length() - 1, sizes[-1].bit_length() - 1
    ax.set_xticks([2**power for power in range(first, last + 1, 2)])
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: size(int(value)))
    ax.grid(axis="y")
    ax.set_axisbelow(True)
    ax.set(xlabel="size of the ring" + (f"\n{label}" if label else ""), ylabel="cycles of a hop", title=title or "")
    style.legend_beside(ax)
    return ax


def describe_rings(curves: Mapping[str, Mapping[int, float]], label: str = "") -> str:
    """Return the alternative text of `ring_sizes`: each curve at all of its sizes.

    >>> describe_rings({"every slot": {4096: 34.2, 2**20: 283.6}}, "made up")
    'Cycles of a hop against the size of the ring, made up: every slot: 34 at 4 KiB, 284 at 1 MiB.'
    """
    words = [f"{name}: " + ", ".join(f"{points[x]:.0f} at {size(x)}" for x in sorted(points)) for name, points in curves.items()]
    return f"Cycles of a hop against the size of the ring{f', {label}' * bool(label)}: {'; '.join(words)}."
