"""Controls on a training step: hidden neurons, batch, and who multiplies; and the pure functions behind them."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from course_lib.plots import style
from course_lib.training import KINDS, Gemm, Setting, gemms, step_cost
from course_lib.widgets.explore import Control, Explore

COLOURS = {"transpose": style.ORANGE, "sgemm_multiply": style.BLUE, "matrix_sum": style.VERMILION, "sgemm_op": style.GREEN,
           "at least": style.GREY}
HIDDEN, BATCH = (32, 64, 128, 256, 512), (16, 32, 64, 128, 256)


@dataclass(frozen=True)
class StepView:
    """One step: its Gemms, and for each of them the sectors of each kernel's name; "at least" for a library, which nobody simulates."""

    kind: str
    setting: Setting
    gemms: tuple[Gemm, ...]
    sectors: tuple[Mapping[str, float], ...]
    kernels: int

    @property
    def counted(self) -> bool:
        """Return whether the sectors were counted; else they are the least there can be."""
        return self.kind != "library"

    @property
    def totals(self) -> tuple[float, ...]:
        """Return the sectors of each product."""
        return tuple(sum(found.values()) for found in self.sectors)


@functools.lru_cache(maxsize=128)
def view_step(kind: str, hidden: int, batch: int) -> StepView:
    """Run one step's products on the simulator and add up what each kernel asks of the memory.

    Parameters
    ----------
    kind
        "separate", "fused" or "library".

    >>> separate, library = (view_step(kind, 32, 16) for kind in ("separate", "library"))
    >>> separate.kernels, library.kernels, sum(library.totals) < sum(separate.totals)
    (16, 5, True)
    """
    setting = Setting(hidden, batch)
    products = gemms(setting)
    if kind == "library":
        return StepView(kind, setting, products, tuple({"at least": g.least_sectors} for g in products), len(products))
    cost, found = step_cost(kind, setting), []
    for _, results in cost.launches:
        names: Counter[str] = Counter()
        for r in results:
            names[r.kernel.name] += r.count("sectors", "load") + r.count("sectors", "store")
        found.append(dict(names))
    return StepView(kind, setting, products, tuple(found), cost.kernels)


def step_facts(view: StepView) -> dict[str, str]:
    """Return what the table shows of a step, as a mapping of label to text."""
    work, moved = sum(g.multiply_adds for g in view.gemms), sum(view.totals)
    least = sum(g.least_sectors for g in view.gemms)
    shown = {f"{g.product.letters}  {g.product.result}: M × N × K": f"{g.M} × {g.N} × {g.K}" for g in view.gemms}
    shown["kernels"] = f"{view.kernels}" if view.counted else f"{view.kernels} or more"
    shown["multiply-adds"] = f"{work:,}"
    shown["sectors"] = f"{moved:,}" if view.counted else f"{moved:,} at least"
    shown["each matrix once"] = f"{least:,}"
    return shown | {"times as many": f"{moved / least:.2f}" if view.counted else "not counted"}


def _share(part, whole):
    return f"{100 * part / whole:.0f} %"


def widest(gemms: Sequence[Gemm]) -> float:
    """Return about how many sectors the largest product takes when separate; all kinds have one axis, so that their bars compare.

    Tiles of 16 × 16 load M N K / 8 floats, the transpositions and the sum move each matrix about twice more.

    >>> widest(view_step("separate", 128, 64).gemms), max(view_step("separate", 128, 64).totals)
    (15360.0, 15360)
    """
    return max(g.multiply_adds / 64 + 2 * g.least_sectors for g in gemms)


def step_bars(view: StepView) -> tuple[Axes, str]:
    """Draw the sectors of each product, cut by kernel, with its share of all; return (Axes, alternative text)."""
    ax = _bars(view)
    moved = sum(view.totals)
    said = "; ".join(f"{g.product.text}: " + ", ".join(f"{name} {count:,}" for name, count in found.items()) + f" ({_share(total, moved)})"
                     for g, found, total in zip(view.gemms, view.sectors, view.totals, strict=True))
    how = "counted" if view.counted else "at least, modelled"
    return ax, f"Sectors of one step, {view.kind}, {view.setting.hidden} hidden, batch of {view.setting.batch}, {how}. {said}."


@style.styled
def _bars(view):
    ax = style.axes(width=6.4, height=4.0)
    moved = sum(view.totals)
    named = set()
    for row, (found, total) in enumerate(zip(view.sectors, view.totals, strict=True)):
        at = 0
        for name, count in found.items():
            ax.barh(row, count, left=at, height=0.66, color=COLOURS[name], edgecolor="white", label="_" * (name in named) + name)
            named.add(name)
            at += count
        ax.text(total, row, f"  {total:,} ({_share(total, moved)})", va="center", fontsize=12)
    least = [g.least_sectors for g in view.gemms]
    if view.counted:
        ax.plot(least, range(len(least)), linestyle="none", marker="|", markersize=26, markeredgewidth=3, color=style.INK,
                label="each matrix once")
    ax.set_yticks(range(len(view.gemms)), [f"{g.product.letters}  {g.product.result}" for g in view.gemms], fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.4 * widest(view.gemms))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.locator_params(axis="x", nbins=5)
    ax.set(xlabel="global sectors, " + ("simulated" if view.counted else "at least, modelled"))
    ax.set_title(f"{view.kind}: {moved:,} sectors, {view.kernels} kernels" if view.counted else f"library: {moved:,} sectors at least")
    ax.legend(fontsize=11, loc="lower center", bbox_to_anchor=(0.44, 1.1), ncols=4, columnspacing=1.0, handlelength=1.2, markerscale=0.55)
    return ax


def step_sliders(way: str = "separate", hidden: int = 128, batch: int = 64) -> Explore:
    """Put controls on who multiplies and on the sizes."""
    controls = (Control("way", "who multiplies", KINDS, way), Control("hidden", "neurons of the hidden layer", HIDDEN, hidden),
                Control("batch", "pictures of a step", BATCH, batch))
    return Explore(controls, view_step, facts=step_facts, picture=step_bars, doing="running a step on the simulator", done="counted")
