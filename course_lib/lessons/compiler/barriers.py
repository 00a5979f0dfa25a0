"""Which barriers of Triton's loop are needed: each is taken out in turn, and the simulator looks for races."""

from course_lib.kernels.triton import Setting, Written, written
from course_lib.plots import Table
from course_lib.plots.ptx_loop import LOOP, loop_lines, name_of
from course_lib.run import matches
from course_lib.run.triton import Product, multiply
from course_lib.widgets.compute import inputs

BARRIER = "bar.sync"
SIZES = (100, 112, 208)          # M, N, K: tiles stick out, and K is six and a half steps


def without(made: Written, number: int) -> str:
    """Return a text without one barrier of its loop; they are counted from 1, and 0 takes none.

    >>> made = written(Setting())
    >>> [without(made, number).count("// bar.sync") for number in range(4)]
    [0, 1, 1, 1]
    """
    before, loop, inside = made.ptx.partition(LOOP)
    pieces = inside.split(BARRIER)
    rest = [BARRIER] * (len(pieces) - 1)
    if number:
        rest[number - 1] = "// bar.sync"
    return before + loop + pieces[0] + "".join(mark + piece for mark, piece in zip(rest, pieces[1:], strict=True))


def launched(number: int, stages: int) -> tuple[Product, bool]:
    """Multiply without one barrier; return the product, and whether it is right."""
    A, B, _ = inputs(*SIZES)
    setting = Setting(stages)
    product = multiply(A, B, setting, without(written(setting), number), racecheck=True)
    return product, matches(product.C, A, B, inputs="tf32")


def without_barriers(stages: int = 3) -> Table:
    """Return a table of the barriers of the loop: what the simulator finds, and whether the result is right, when one is taken out."""
    positions = [position for position, line in enumerate(loop_lines(written(Setting(stages))), 1) if name_of(line.text) == BARRIER]
    rows = []
    for number, position in enumerate([0, *positions]):
        product, right = launched(number, stages)
        kinds = ", ".join(dict.fromkeys(hazard.kind for hazard in product.report.hazards))
        rows.append((f"number {number}, position {position}" if number else "none", kinds or "none", "right" if right else "wrong"))
    M, N, K = SIZES
    return Table(("barrier taken out", "hazards", "result"), rows, f"num_stages = {stages}, sm_80; M = {M}, N = {N}, K = {K}, simulated")
