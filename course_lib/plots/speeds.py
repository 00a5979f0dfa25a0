"""Records of a sweep as curves: speed against the size, or against a tile, a number of warps or of threads."""

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.table import Table

UNITS = {"gflops": "GFLOP/s", "gb_s": "GB/s"}
WIDE_RANGE, MOST_TICKS = 16, 10       # from this ratio on the x axis is logarithmic; up to so many values are its ticks


def curves(records: Iterable[Record], over: str = "N", what: str = "gflops") -> dict[str, dict[int, float]]:
    """Return label -> {x: speed}, a curve for each kernel and each choice of its other parameters.

    Parameters
    ----------
    records
        Those without a speed are left out.
    over
        "N", "M", "K", "dynamic_shared" or a parameter such as "threads".
    what
        "gflops" or "gb_s".

    Raises
    ------
    CourseError
        When no record has a speed and such a parameter, or two of a curve have the same x.

    >>> from course_lib.data import load
    >>> list(curves(load("wang").find("dgemm_outputs")))
    ['dgemm_outputs, by = 16', 'dgemm_outputs, by = 8']
    """
    found = [r for r in records if getattr(r, what) is not None and _x(r, over) is not None]
    if not found:
        raise CourseError(f"no record has a speed and {over}", over=over)
    lines: dict[str, dict[int, float]] = {}
    for r in found:
        line = lines.setdefault(_label(r, found, over), {})
        if _x(r, over) in line:
            raise CourseError(f"{r.kernel} has two records at {over} = {_x(r, over)}: choose some, by sweep or by size", kernel=r.kernel)
        line[_x(r, over)] = getattr(r, what)
    return lines


def _x(record, over):
    return getattr(record, over) if over in ("N", "M", "K", "dynamic_shared") else record.parameters.get(over)


def _label(record, found, over):
    """Return the kernel's name with what tells its records apart."""
    alike = [r for r in found if r.kernel == record.kernel]
    varied = [name for name, value in record.parameters.items() if name != over and any(r.parameters.get(name) != value for r in alike)]
    words = [f"{name} = {record.parameters[name]}" for name in varied]
    words += [record.dtype] * (len({r.dtype for r in alike}) > 1) + [f"{record.l2} L2"] * (len({r.l2 for r in alike}) > 1)
    words += [f"N = {record.N}"] * (over not in "MNK" and len({r.N for r in alike}) > 1)
    return ", ".join([record.kernel, *words])


@style.styled
def speeds(records: Iterable[Record], ax: Axes | None = None, *, over: str = "N", what: str = "gflops", title: str | None = None,
           label: str = "", live: Mapping[str, Mapping[int, float]] | None = None, log: bool = False) -> Axes:
    """Draw a curve for each kernel.

    Parameters
    ----------
    records, over, what
        As for `curves`.
    label
        Where the figures are from: a Recording's `label`.
    live
        By label, {x: speed}: points of this machine beside the curves, from `live_points`.
    log
        Logarithmic axes, both; without, the y axis begins at 0, and the x axis is logarithmic where the values span much.

    Returns
    -------
    Axes
        The legend stands beside it, fastest at the largest x first.

    Raises
    ------
    CourseError
        For more curves than there are colours.
    """
    found = curves(records, over, what)
    if len(found) > len(style.CYCLE):
        raise CourseError(f"{len(found)} curves are too many to tell apart: choose up to {len(style.CYCLE)}", curves=tuple(found))
    return draw_curves(found, ax, xlabel=over + (f"\n{label}" if label else ""), ylabel=UNITS[what], title=title, live=live, log=log)


@style.styled
def draw_curves(found: Mapping[str, Mapping[int, float]], ax: Axes | None = None, *, xlabel: str, ylabel: str, title: str | None = None,
                live: Mapping[str, Mapping[int, float]] | None = None, log: bool = False, even: bool = False) -> Axes:
    """Draw what `curves` returns, or any other label -> {x: y}; y begins at 0 unless its axis is logarithmic.

    `even` sets the values of x side by side, whatever lies between them, so that neighbours such as 1023, 1024 and 1025 are told apart.

    >>> ax = draw_curves({"K80": {512: 45.0, 513: 30.0}}, xlabel="N", ylabel="% of the peak")
    >>> ax.lines[0].get_xydata().tolist()
    [[512.0, 45.0], [513.0, 30.0]]
    """
    ax = style.axes(ax, width=11.0, height=4.8)
    every = sorted({x for line in (*found.values(), *(live or {}).values()) for x in line})
    place = {x: n if even else x for n, x in enumerate(every)}
    drawn = {}
    for i, (name, line) in enumerate(found.items()):
        xs = sorted(line)
        drawn[name], = ax.plot([place[x] for x in xs], [line[x] for x in xs], marker=style.marker(i), color=style.CYCLE[i],
                               markeredgecolor=style.INK, markeredgewidth=0.6, label=name)
    points = [ax.plot([place[x] for x in sorted(line)], [line[x] for x in sorted(line)], linestyle="none",
                      marker=style.MARKERS[-1 - i % len(style.MARKERS)], markersize=15, color=style.INK, markerfacecolor="none",
                      markeredgewidth=2, label=name, zorder=3)[0]
              for i, (name, line) in enumerate((live or {}).items())]
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(10, (1, 2, 5)))
        ax.yaxis.minorticks_off()
    else:
        ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title or "")
    if even:
        ax.set_xticks(range(len(every)), [f"{x:g}" for x in every], fontsize=11)
    else:
        _ticks(ax, every, log)
    style.legend_beside(ax, [drawn[name] for name in sorted(found, key=lambda name: -found[name][max(found[name])])] + points)
    return ax


def _ticks(ax, xs, log):
    """Name the values themselves where they are few, evenly spread by doubling where they span much."""
    if log or (min(xs) > 0 and max(xs) >= WIDE_RANGE * min(xs)):
        ax.set_xscale("log", base=2)
    if len(xs) <= MOST_TICKS:
        ax.set_xticks(xs)
        ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")


def live_points(results: Iterable[RunResult], over: str = "N", what: str = "gflops") -> dict[str, dict[int, float]]:
    """Return label -> {x: speed} of results with a measured time, a label for each kernel; empty without any.

    Parameters
    ----------
    over
        "N", "M", "K" or a parameter.
    what
        "gflops" or "gb_s".

    >>> live_points([])
    {}
    """
    found: dict[str, dict[int, float]] = {}
    for r in results:
        x = getattr(r, over) if over in ("M", "N", "K") else r.parameters.get(over)
        if r.time is not None and x is not None:
            found.setdefault(f"{r.kernel.name}, {r.label}", {})[x] = getattr(r, what)
    return found


def speeds_table(records: Iterable[Record], over: str = "N", what: str = "gflops", label: str = "") -> Table:
    """Return the numbers of `speeds`: a row for each x, a column for each curve."""
    found = curves(records, over, what)
    xs = sorted({x for line in found.values() for x in line})
    rows = [(str(x), *(f"{line[x]:,.0f}" if x in line else "" for line in found.values())) for x in xs]
    return Table((over, *found), rows, ", ".join(filter(None, [UNITS[what], label])))


def describe_speeds(records: Iterable[Record], over: str = "N", what: str = "gflops", label: str = "",
                    live: Mapping[str, Mapping[int, float]] | None = None) -> str:
    """Return the alternative text of `speeds`: each curve's ends and its best, and the live points."""
    words = []
    for name, line in curves(records, over, what).items():
        best, first, last = max(line, key=line.__getitem__), min(line), max(line)
        words.append(f"{name} from {line[first]:,.0f} at {first} to {line[last]:,.0f} at {last}, best {line[best]:,.0f} at {best}")
    words += [f"{name}: " + ", ".join(f"{points[x]:,.0f} at {x}" for x in sorted(points)) for name, points in (live or {}).items()]
    return f"Curves of {UNITS[what]} over {over}{f', {label}' * bool(label)}: {'; '.join(words)}."
