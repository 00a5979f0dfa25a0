"""Controls on Amdahl's law: which share of an iteration its products take, and how much faster they become."""

import math
from dataclasses import dataclass

from matplotlib.axes import Axes

from course_lib.model import amdahl
from course_lib.plots import style
from course_lib.widgets.explore import Control, Explore

SHARES = (10, 20, 30, 40, 50, 60, 67, 70, 76, 80, 90, 95, 99)
FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 64.0)
MOST, DRAWN = 64, 97


@dataclass(frozen=True)
class Gain:
    """What an iteration gains: percent of its time that products take, the factor by which they become faster, and the result."""

    percent: int
    factor: float
    speedup: float
    limit: float


def gain(percent: int, factor: float) -> Gain:
    """Return the Gain of an iteration.

    >>> gain(50, 2.0).speedup, gain(75, 3.0)
    (1.3333333333333333, Gain(percent=75, factor=3.0, speedup=2.0, limit=4.0))
    """
    share = percent / 100
    return Gain(percent, factor, amdahl(share, factor), amdahl(share, math.inf))


def gain_facts(found: Gain) -> dict[str, str]:
    """Return what the table shows, as a mapping of label to text; an iteration takes 100 ms before."""
    rest = 100 - found.percent
    return {"before: products + rest": f"{found.percent} ms + {rest} ms", "after": f"{found.percent / found.factor:.1f} ms + {rest} ms",
            "iterations": f"× {found.speedup:.2f}", "if products took no time": f"× {found.limit:.2f}",
            "products' share afterwards": f"{100 - rest * found.speedup:.0f} %"}


@style.styled
def gain_curve(found: Gain) -> tuple[Axes, str]:
    """Draw the iteration's gain over the factor, for this share and for three others; return (Axes, alternative text)."""
    ax = style.axes(width=7.0, height=4.2)
    xs = [MOST ** (i / (DRAWN - 1)) for i in range(DRAWN)]
    for percent in sorted({30, 67, 90} - {found.percent}):
        ax.plot(xs, [amdahl(percent / 100, x) for x in xs], color=style.GREY, linewidth=1.6)
        ax.text(1.06 * MOST, amdahl(percent / 100, MOST), f"{percent} %", fontsize=12, color=style.GREY, va="center")
    ax.plot(xs, [amdahl(found.percent / 100, x) for x in xs], color=style.BLUE, linewidth=3.5)
    ax.axhline(found.limit, color=style.BLUE, linestyle=":", linewidth=2)
    ax.plot([found.factor], [found.speedup], marker="o", markersize=13, color=style.ORANGE, markeredgecolor=style.INK, zorder=3)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks([1, 2, 4, 8, 16, 32, 64])
    ax.set_yticks([1, 2, 4, 8, 16, 32, 64])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(xlim=(1, 1.6 * MOST), ylim=(0.94, 128), xlabel="the products become so many times as fast", ylabel="so does an iteration")
    ax.set_title(f"products {found.percent} %: × {found.speedup:.2f}, at most × {found.limit:.2f}")
    ax.grid(axis="y")
    ax.minorticks_off()
    return ax, (f"Gain of an iteration over the gain of its products. When they take {found.percent} % and become {found.factor:g} times "
                f"as quick, an iteration becomes {found.speedup:.2f} times as quick, {found.limit:.2f} times if they took no time.")


def amdahl_sliders(percent: int = 67, factor: float = 8.0) -> Explore:
    """Put controls on the share and the factor."""
    controls = (Control("share", "percent of an iteration's time that its products take", tuple((f"{s} %", s) for s in SHARES), percent),
                Control("factor", "how much faster the products become", tuple((f"× {f:g}", f) for f in FACTORS), factor))
    return Explore(controls, gain, facts=gain_facts, picture=gain_curve, doing="computing", done="computed")
