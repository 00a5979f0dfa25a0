"""What limits a kernel, in three panels: the roofs, the warps that fit on a multiprocessor, what is under way there."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from course_lib.plots import style
from course_lib.run import RunResult, limits_of
from course_lib.widgets.live_pictures import draw_roofs

if TYPE_CHECKING:
    from course_lib.run import LaunchLimits


@style.styled
def draw_limits(found: "LaunchLimits", roofs: Callable[[Axes], None]) -> Figure:
    """Draw a figure of three panels: roofline; warps on a multiprocessor by resource; work under way, needed and there.

    Parameters
    ----------
    roofs
        Draws the roofline and its point.

    Returns
    -------
    Figure
        Its Axes in the order of the panels.
    """
    figure = Figure(figsize=(10.3, 4.1), dpi=style.DPI)      # positions by hand: to find a layout takes longer than all the drawing
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.09, right=0.975, bottom=0.32, top=0.88, wspace=0.55)
    first, second, third = figure.subplots(1, 3, width_ratios=(1.15, 1, 1))
    roofs(first)
    _room(second, found)
    _under_way(third, found)
    return figure


def _room(ax, found):
    """Draw the warps that each resource alone would allow; what keeps the next one out is marked."""
    names, most = list(found.room), found.on.limits.warps
    colours = [style.VERMILION if name in found.filled_by else style.SKY for name in names]
    drawn = ax.barh(range(len(names)), [found.room[name] for name in names], color=colours, height=0.66)
    ax.bar_label(drawn, [f"{found.room[name]:,}" for name in names], padding=3, fontsize=12)
    ax.axvline(found.warps, color=style.INK, linestyle="--", linewidth=1.5)
    ax.set_yticks(range(len(names)), names, fontsize=11)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.17 * most)
    ax.set_xticks(range(0, most + 1, most // 4))
    ax.tick_params(axis="y", length=0)
    ax.set_title(f"Room: {found.warps} of {most} warps", fontsize=14)
    ax.set_xlabel("warps of an SM that each\nresource alone would allow", fontsize=12)
    ax.legend(handles=[Patch(color=style.VERMILION, label="keeps the next block out")], loc="upper center", fontsize=10,
              bbox_to_anchor=(0.36, -0.3))


def _under_way(ax, found):
    """Draw what is under way beside what Little's law asks for."""
    rows = {name: each for name, each in (("global\nloads", found.loads), ("multiply-\nadds", found.multiply_adds)) if each}
    for place, each in enumerate(rows.values()):
        colour = style.GREEN if each.enough else style.VERMILION
        ax.plot([max(each.had, 1)], [place], marker="s", markersize=14, color=colour, linestyle="none", clip_on=False)
        ax.plot([max(each.needed, 1)] * 2, [place - 0.3, place + 0.3], color=style.INK, linewidth=3)
        ax.text(1.15, place - 0.36, f"{each.had:,.3g} there, {each.needed:,.3g} needed", fontsize=11, va="bottom")
    ax.set_xscale("log", base=2)
    ax.set_xlim(1, 4096)
    ax.set_xticks([1, 8, 64, 512, 4096], ["1", "8", "64", "512", "4,096"])
    ax.minorticks_off()
    ax.set_yticks(range(len(rows)), list(rows), fontsize=11)
    ax.set_ylim(len(rows) - 0.5, -0.8)
    ax.tick_params(axis="y", length=0)
    hidden = all(each.enough for each in rows.values())
    ax.set_title("Waiting: hidden" if hidden else "Waiting: it shows", fontsize=14)
    ax.set_xlabel("warp instructions under way\non an SM", fontsize=12)
    ax.legend(handles=[Line2D([], [], color=style.INK, linewidth=3, label="needed, by Little's law")], loc="upper center", fontsize=10,
              bbox_to_anchor=(0.4, -0.3))


def describe_limits(found: "LaunchLimits") -> str:
    """Return the alternative text of the second and third panel of `draw_limits`."""
    room = ", ".join(f"{name} {warps}" for name, warps in found.room.items())
    pairs = (("global loads", found.loads), ("multiply-adds", found.multiply_adds))
    said = "; ".join(f"{name} {each.had:,.3g} there, {each.needed:,.3g} needed" for name, each in pairs if each)
    return (f"An SM holds {found.warps} of {found.on.limits.warps} warps; alone would allow: {room}. "
            f"Warp instructions under way: {said}.")


def limits_picture(result: RunResult) -> tuple[Figure, str]:
    """Draw what limits a product, side by side: its point under the L1's roof and the peak, the room for warps, what is under way."""
    found, said = limits_of(result), []

    def roofs(ax):
        said.append(draw_roofs(result, found.bound, ax, small=True)[1])

    figure = draw_limits(found, roofs)
    return figure, f"{said[0]} {describe_limits(found)}"
