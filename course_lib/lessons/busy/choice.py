"""A choice by size: every kernel's speed as a thin line, what is chosen as a thick one above them."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from course_lib import data
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import parts

THIN = "#B8B8B8"


@style.styled
def chosen_speeds(lines: Sequence[Mapping[int, float]], chosen: Mapping[int, float],
                  others: Mapping[str, Mapping[int, float]] | None = None, ax: Axes | None = None, *, label: str = "") -> Axes:
    """Draw the speeds of many kernels, and of what is chosen among them; sizes stand side by side, however far apart they are.

    Parameters
    ----------
    lines
        {N: GFLOP/s} of what there is to choose from; a point at sizes that only one has.
    chosen
        {N: GFLOP/s}.
    others
        By name, {N: GFLOP/s}: drawn in colours of their own; up to six.
    label
        Where the figures are from.

    Returns
    -------
    Axes
        Its last line is `chosen`.

    >>> ax = chosen_speeds([{64: 1.0, 65: 2.0}, {64: 3.0}], {64: 3.0, 65: 2.0}, label="recorded")
    >>> ax.lines[-1].get_ydata().tolist(), [t.get_text() for t in ax.get_xticklabels()]
    ([3.0, 2.0], ['64', '65'])
    """
    ax = style.axes(ax, width=12.0, height=5.2)
    sizes = sorted(chosen)
    place = {N: i for i, N in enumerate(sizes)}
    handles = []
    for line in lines:
        at = [N for N in sizes if N in line]
        thin, = ax.plot([place[N] for N in at], [line[N] for N in at], color=THIN, linewidth=0.9, marker=".", markersize=4,
                        label=f"one of {len(lines)} to choose from")
        handles = [thin]
    for i, (name, line) in enumerate((others or {}).items()):
        at = [N for N in sizes if N in line]
        handles += ax.plot([place[N] for N in at], [line[N] for N in at], color=style.CYCLE[i + 1], marker=style.marker(i + 1), linewidth=2,
                           markeredgecolor=style.INK, markeredgewidth=0.6, markersize=7, label=name)
    thick, = ax.plot([place[N] for N in sizes], [chosen[N] for N in sizes], color=style.BLUE, marker="o", linewidth=3.5,
                     markeredgecolor=style.INK, markeredgewidth=0.6, label="chosen by N")
    ax.set_xticks(range(len(sizes)), [str(N) for N in sizes], rotation=60)
    ax.set(xlabel="N, not to scale" + (f"\n{label}" if label else ""), ylabel="GFLOP/s")
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.legend(handles=[thick, *handles[1:], *handles[:1]], loc="lower left", bbox_to_anchor=(0, 1), ncol=3)
    return ax


def describe_choice(chosen: Mapping[int, float], others: Mapping[str, Mapping[int, float]] | None = None,
                    at: Sequence[int] | None = None) -> str:
    """Return the alternative text of `chosen_speeds`: the speeds at some sizes, default the first and the last.

    >>> describe_choice({64: 3.0, 65: 2.0}, {"cuBLAS": {64: 4.0, 65: 3.5}})
    'GFLOP/s by N. Chosen: 3 at 64, 2 at 65. cuBLAS: 4 at 64, 3.5 at 65. No other kernel to choose from lies above the chosen one.'
    """
    at = at or (min(chosen), max(chosen))
    words = [f"{name}: " + ", ".join(f"{line[N]:,.4g} at {N}" if line[N] < 1000 else f"{line[N]:,.0f} at {N}" for N in at if N in line)
             for name, line in {"Chosen": chosen, **(others or {})}.items()]
    return f"GFLOP/s by N. {'. '.join(words)}. No other kernel to choose from lies above the chosen one."


def choice_by_size(chosen: Mapping[int, float]) -> Picture:
    """Draw what `best_for` chooses at these sizes, above what there is to choose from, beside the library.

    Parameters
    ----------
    chosen
        {N: GFLOP/s}.
    """
    recorded = data.load("wang")
    library = {r.N: r.gflops for r in recorded.find("cuBLAS", dtype="float32") if r.gflops is not None}
    others = {"cuBLAS": {N: library[N] for N in chosen if N in library}}
    ax = chosen_speeds(list(parts().values()), chosen, others, style.axes(width=7.6, height=3.6), label=recorded.label)
    return render(ax, describe_choice(chosen, others, at=tuple(chosen)))
