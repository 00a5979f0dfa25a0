"""A choice by size: the speed that it expects, as a dashed line, beside what was recorded."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from course_lib import data
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import choose


@style.styled
def chosen_speeds(chosen: Mapping[int, float], others: Mapping[str, Mapping[int, float]], ax: Axes | None = None, *,
                  label: str = "") -> Axes:
    """Draw the speeds of what is chosen, and others; sizes stand side by side, however far apart they are.

    Parameters
    ----------
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

    >>> ax = chosen_speeds({64: 3.0, 65: 2.0}, {"cuBLAS": {64: 4.0}}, label="recorded")
    >>> ax.lines[-1].get_ydata().tolist(), [t.get_text() for t in ax.get_xticklabels()]
    ([3.0, 2.0], ['64', '65'])
    """
    ax = style.axes(ax, width=12.0, height=5.2)
    sizes = sorted(chosen)
    place = {N: i for i, N in enumerate(sizes)}
    for i, (name, line) in enumerate(others.items(), 1):
        at = [N for N in sizes if N in line]
        ax.plot([place[N] for N in at], [line[N] for N in at], color=style.CYCLE[i], marker=style.marker(i), linewidth=2,
                markeredgecolor=style.INK, markeredgewidth=0.6, markersize=7, label=name)
    ax.plot([place[N] for N in sizes], [chosen[N] for N in sizes], color=style.BLUE, marker="o", linewidth=2, linestyle="--",
            markeredgecolor=style.INK, markeredgewidth=0.6, label="chosen, by its estimate")
    ax.set_xticks(range(len(sizes)), [str(N) for N in sizes], rotation=60)
    ax.set(xlabel="N, not to scale" + (f"\n{label}" if label else ""), ylabel="GFLOP/s")
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return ax


def describe_choice(chosen: Mapping[int, float], others: Mapping[str, Mapping[int, float]], at: Sequence[int] | None = None) -> str:
    """Return the alternative text of `chosen_speeds`: the speeds at some sizes, default the first and the last.

    >>> describe_choice({64: 3.0, 65: 2.0}, {"cuBLAS": {64: 4.0, 65: 3.5}})
    'GFLOP/s by N. Chosen, by its estimate: 3 at 64, 2 at 65. cuBLAS: 4 at 64, 3.5 at 65.'
    """
    at = at or (min(chosen), max(chosen))
    words = [f"{name}: " + ", ".join(f"{line[N]:,.4g} at {N}" if line[N] < 1000 else f"{line[N]:,.0f} at {N}" for N in at if N in line)
             for name, line in {"Chosen, by its estimate": chosen, **others}.items()]
    return f"GFLOP/s by N. {'. '.join(words)}."


def choice_by_size(sizes: Sequence[int]) -> Picture:
    """Draw how fast `choose` expects its choices to be at these sizes, beside what the race found.

    Parameters
    ----------
    sizes
        N of square matrices that were raced.
    """
    race = data.readings("race")
    rows = {N: race.find(dtype="float32", M=N, N=N, K=N, beta=0, TRANSA=0, TRANSB=0)[0] for N in sizes}
    chosen = {N: 2e-9 * N**3 / choose(N).seconds for N in sizes}
    others = {name: {N: 2e-9 * N**3 / row[key] for N, row in rows.items()}
              for name, key in (("the best in the race", "ours"), ("cuBLAS", "library"))}
    ax = chosen_speeds(chosen, others, style.axes(width=7.6, height=4.4), label=f"cuBLAS and the race {race.label}")
    return render(ax, describe_choice(chosen, others, at=tuple(sizes)))
