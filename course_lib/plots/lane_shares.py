"""Which lane of a warp holds which element of A, B and C in one instruction of tensor cores."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.simt.isa.fragments import LANES, operands

FLOAT64 = "mma 16×8×8, float64"
# Name -> (shape (m, n, k), what is multiplied); C is float32, or float64 where float64 is multiplied.
INSTRUCTIONS = {"mma 16×8×8, TF32": ((16, 8, 8), "tf32"), "mma 16×8×16, bfloat16": ((16, 8, 16), "bf16"), FLOAT64: ((16, 8, 8), "f64")}
HELD, WANTED, GAP = style.BLUE, "#FBE3B5", 2      # this lane's elements; what their sums are made of


@dataclass(frozen=True)
class LaneShare:
    """What one lane holds.

    Attributes
    ----------
    instruction
        A name of `INSTRUCTIONS`.
    shape
        m, n, k.
    elements
        By matrix, (row, column) in the order of the lane's elements.
    registers
        By matrix, the 32-bit registers that this takes.
    sources
        Lanes that hold the row of A or the column of B of any of its elements of C.
    """

    instruction: str
    shape: tuple[int, int, int]
    lane: int
    elements: dict[str, tuple[tuple[int, int], ...]]
    registers: dict[str, int]
    sources: tuple[int, ...]

    @property
    def multiply_adds(self) -> int:
        """Return the multiply-adds of the whole warp."""
        m, n, k = self.shape
        return m * n * k


def lane_share(instruction: str, lane: int) -> LaneShare:
    """Return what a lane holds of the matrices of an instruction.

    Raises
    ------
    CourseError
        For an unknown instruction, or a lane that is none.

    >>> lane_share("mma 16×8×8, TF32", 5).elements
    {'A': ((1, 1), (9, 1), (1, 5), (9, 5)), 'B': ((1, 1), (5, 1)), 'C': ((1, 2), (1, 3), (9, 2), (9, 3))}
    """
    if instruction not in INSTRUCTIONS:
        raise CourseError(f"there is no instruction {instruction!r} here: {'; '.join(INSTRUCTIONS)}", instruction=instruction)
    if lane not in range(LANES):
        raise CourseError(f"a warp has the lanes 0 to {LANES - 1}, and no lane {lane}", lane=lane)
    shape, found = INSTRUCTIONS[instruction][0], _parts(instruction)
    elements = {name: part.positions[lane] for name, part in found.items()}
    rows, cols = {row for row, _ in elements["C"]}, {col for _, col in elements["C"]}
    sources = tuple(n for n in range(LANES) if any(row in rows for row, _ in found["A"].positions[n])
                    or any(col in cols for _, col in found["B"].positions[n]))
    registers = {name: part.registers * part.register_bytes // 4 for name, part in found.items()}
    return LaneShare(instruction, shape, lane, elements, registers, sources)


def describe_lane(share: LaneShare) -> str:
    """Return what `draw_lane` shows, in words.

    >>> describe_lane(lane_share("mma 16×8×8, TF32", 5))[:62]
    'mma 16×8×8, TF32: lane 5 holds of A (1, 1), (9, 1), (1, 5), (9'
    """
    held = "; ".join(f"of {name} {', '.join(map(str, elements))}" for name, elements in share.elements.items())
    m, n, k = share.shape
    return (f"{share.instruction}: lane {share.lane} holds {held}. A is {m} × {k}, B {k} × {n}, C {m} × {n}. The rows of A and columns "
            f"of B that its elements of C are made of lie in {len(share.sources)} lanes.")


@style.styled
def draw_lane(share: LaneShare, ax: Axes | None = None) -> Axes:
    """Draw A, B and C as on paper, every element with its lane's number; one lane's are dark, what its C needs is pale.

    Returns
    -------
    Axes
        With a rectangle for each element: those of A, then of B, then of C, row by row.
    """
    m, n, k = share.shape
    left, top = k + GAP, k + GAP
    cell = min(0.24, 7.2 / (top + m + 2))                    # inches
    ax = style.axes(ax, width=cell * (left + n + 1), height=cell * (top + m + 2))
    owner = _owners(share.instruction)
    rows, cols = {row for row, _ in share.elements["C"]}, {col for _, col in share.elements["C"]}
    for name, (height, width), (x0, y0) in (("A", (m, k), (0, top)), ("B", (k, n), (left, 0)), ("C", (m, n), (left, top))):
        for row in range(height):
            for col in range(width):
                wanted = row in rows if name == "A" else col in cols if name == "B" else False
                _element(ax, (x0 + col, y0 + row), owner[name][row, col], share.lane, wanted, 38 * cell)
        title = {"A": f"A: {m} × {k}", "B": f"B: {k} × {n}", "C": f"C: {m} × {n}"}[name]
        ax.text(x0, y0 - 0.25, title, ha="left", va="bottom", fontsize=13)
    ax.set(xlim=(-0.1, left + n + 0.1), ylim=(top + m + 0.1, -1.4))
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _owners(instruction):
    """Return {"A": {(row, column): lane}, …}."""
    return {name: {place: lane for lane in range(LANES) for place in part.positions[lane]} for name, part in _parts(instruction).items()}


def _parts(instruction):
    """Return {"A": its Fragment, …}."""
    shape, kind = INSTRUCTIONS[instruction]
    sums = "f64" if kind == "f64" else "f32"
    return dict(zip("ABC", operands(shape, kind, sums, sums), strict=False))


def _element(ax, corner, owner, lane, wanted, size):
    colour = HELD if owner == lane else WANTED if wanted else "#F4F4F4"
    ax.add_patch(Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white" if owner == lane else "#BDBDBD", linewidth=0.7))
    ax.text(corner[0] + 0.5, corner[1] + 0.54, str(owner), ha="center", va="center", fontsize=size,
            color=style.text_on(colour), weight="bold" if owner == lane else "normal")
