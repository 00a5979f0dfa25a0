"""The occupancy calculator's picture: warps on a multiprocessor over what a kernel takes, as staircases."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_lib.arch import KIB, WARP, Device
from course_lib.model import occupancy
from course_lib.plots import style

PANELS = ("threads a block", "registers a thread", "shared KiB a block")


def stairs(on: Device, threads: int, registers: int, shared_bytes: int) -> dict[str, list[tuple[int, int]]]:
    """Return, for each of the three inputs, how many warps fit while it alone changes.

    Returns
    -------
    dict of str to list of (value, warps)
        By `PANELS`. A value that no launch may ask for is left out.

    >>> from course_lib.arch import device
    >>> [found[-1] for found in stairs(device("Tesla C1060"), 64, 30, 0).values()]
    [(512, 16), (124, 4), (16, 2)]
    """
    limits = on.limits
    asked = {
        PANELS[0]: [(n, (n, registers, shared_bytes)) for n in range(WARP, limits.threads_per_block + 1, WARP)],
        PANELS[1]: [(r, (threads, r, shared_bytes)) for r in range(16, limits.registers_per_thread + 1)],
        PANELS[2]: [(k, (threads, registers, k * KIB)) for k in range(limits.shared_per_block // KIB + 1)]}
    return {name: [(value, occupancy(on, *inputs).warps) for value, inputs in pairs] for name, pairs in asked.items()}


@style.styled
def occupancy_stairs(on: Device, threads: int, registers: int, shared_bytes: int) -> Figure:
    """Draw three staircases: the warps that fit over each input, the point where the kernel stands on all of them.

    Parameters
    ----------
    threads, registers, shared_bytes
        As for `model.occupancy`; what it refuses is refused here.

    Returns
    -------
    Figure
        Its Axes in the order of `PANELS`.
    """
    now = occupancy(on, threads, registers, shared_bytes)
    figure = Figure(figsize=(10.6, 3.3), dpi=style.DPI)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.07, right=0.985, bottom=0.2, top=0.82, wspace=0.18)
    stands = dict(zip(PANELS, (threads, registers, shared_bytes / KIB), strict=True))
    for ax, (name, found) in zip(figure.subplots(1, 3, sharey=True), stairs(on, threads, registers, shared_bytes).items(), strict=True):
        ax.step(*zip(*found, strict=True), where="post", color=style.BLUE)
        ax.plot([stands[name]], [now.warps], marker="o", markersize=11, color=style.VERMILION, markeredgecolor=style.INK, zorder=3)
        ax.axhline(on.limits.warps, color=style.GREY, linestyle="--", linewidth=1.5)
        ax.set(xlabel=name, ylim=(0, 1.08 * on.limits.warps), xlim=(0, 1.04 * found[-1][0]))
        ax.set_yticks(range(0, on.limits.warps + 1, on.limits.warps // 4))
        ax.grid(axis="y")
    figure.axes[0].set_ylabel("warps that fit")
    figure.suptitle(f"{on.name}: {now.blocks} blocks, {now.warps} of {on.limits.warps} warps; limited by {' and '.join(now.limiters)}",
                    x=0.01, y=0.985, ha="left", va="top", fontsize=15)
    return figure


def describe_stairs(on: Device, threads: int, registers: int, shared_bytes: int) -> str:
    """Return the alternative text of `occupancy_stairs`: where the point stands, and the next step up in each panel.

    >>> from course_lib.arch import device
    >>> describe_stairs(device("H200"), 256, 64, 0)
    'On an H200 with 256 threads, 64 registers and 0 KiB: 4 blocks, 32 of 64 warps, limited by registers. More warps fit: from \
registers a thread 48 down.'
    """
    now = occupancy(on, threads, registers, shared_bytes)
    ups = [f"from {name} {value} down" for name, value in next_steps(on, threads, registers, shared_bytes).items()]
    return (f"On {_article(on.name)} {on.name} with {threads} threads, {registers} registers and {shared_bytes / KIB:g} KiB: {now.blocks} "
            f"blocks, {now.warps} of {on.limits.warps} warps, limited by {' and '.join(now.limiters)}. "
            + (f"More warps fit: {', '.join(ups)}." if ups else "Taking less of one thing alone lets no more warps fit."))


def next_steps(on: Device, threads: int, registers: int, shared_bytes: int) -> dict[str, int]:
    """Return the most registers, and the most shared KiB, at which more warps fit when it alone is less; by `PANELS`, if there are any.

    >>> from course_lib.arch import device
    >>> next_steps(device("H200"), 256, 65, 8192)
    {'registers a thread': 64}
    """
    now = occupancy(on, threads, registers, shared_bytes).warps
    found = stairs(on, threads, registers, shared_bytes)
    better = {name: [value for value, warps in found[name] if warps > now] for name in PANELS[1:]}      # less never lets fewer fit
    return {name: max(values) for name, values in better.items() if values}


def _article(word):
    return "an" if word[0] in "AEFHILMNORSX" else "a"
