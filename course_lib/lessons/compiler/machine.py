"""The machine code of Triton's loop, as the assembler of its compiler wrote it: what is counted, and in which order."""

from matplotlib.axes import Axes

from course_lib.kernels.triton import Setting, written
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

TELLS = {                        # name -> what it does, and the colour of its kind in the picture at the top of the lesson
    "HMMA": ("multiplies: mma", style.GREEN), "LDSM": ("loads from shared memory: ldmatrix", style.ORANGE),
    "LDGSTS": ("copies to shared memory: cp.async", style.BLUE), "BAR": ("barrier", style.PURPLE),
    "LDGDEPBAR": ("ends a group of copies", style.SKY), "DEPBAR": ("waits for a group of copies", style.VERMILION),
}


def machine_code(setting: Setting) -> Table:
    """Return how many machine instructions one warp executes per step, and which of them are known by name."""
    loop = written(setting).facts["loop"]
    rows = [("all", loop["instructions"], ""), *((name, loop[name], tells) for name, (tells, _) in TELLS.items())]
    mask = "" if setting.masked else ", no mask for A"
    return Table(("machine instruction", "of one warp per step", "what it does"), rows,
                 f"num_stages = {setting.stages}, {setting.arch}{mask}; by the assembler of Triton {written(setting).facts['triton']}")


def machine_order(setting: Setting) -> list[str]:
    """Return the named machine instructions of the loop in their order.

    >>> machine_order(Setting(2))[:4]
    ['HMMA', 'DEPBAR', 'BAR', 'HMMA']
    """
    parts = [part.split() for part in written(setting).facts["order"].split(", ")]
    return [name for count, name in parts for _ in range(int(count))]


@style.styled
def draw_machine_order(setting: Setting) -> Axes:
    """Draw a box for each named instruction, from left to right."""
    ax, names = style.axes(width=10.0, height=1.9), machine_order(setting)
    for place, name in enumerate(names):
        colour = TELLS[name][1]
        ax.bar(place, 1, width=1, color=colour, edgecolor="white")
        ax.text(place, 0.5, name, rotation=90, ha="center", va="center", fontsize=12, color=style.text_on(colour))
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(0, 1))
    ax.set_axis_off()
    ax.set_title(f"the loop in machine code, in its order; num_stages = {setting.stages}, {setting.arch}", fontsize=13)
    return ax


def machine_loop(setting: Setting) -> Picture:
    """Show the named machine instructions of the loop as a strip, in their order."""
    return render(draw_machine_order(setting), f"The loop in machine code, in its order: {', '.join(machine_order(setting))}.")
