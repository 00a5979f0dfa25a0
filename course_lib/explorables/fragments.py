"""Lesson 16's picture: which lane of a warp holds which element of A, B and C, and whose factors come together in one lane's sums.

Where every element lies is the simulator's own table, by which it executes `mma` (`course_lib.simt.isa.fragments`).
"""

import functools
from typing import Any

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.plots.lane_shares import FLOAT64, lane_share
from course_lib.simt.isa.fragments import LANES

SHOWN = {"tf32": "mma 16×8×8, TF32", "bf16": "mma 16×8×16, bfloat16", "f64": FLOAT64}       # key of the control -> name of the instruction
LABELS = {"tf32": "16 × 8 × 8, TF32", "bf16": "16 × 8 × 16, bfloat16", "f64": "16 × 8 × 8, float64"}


def held(instruction: str) -> dict[str, Any]:
    """Return an instruction's shape, who holds each element of A, B and C (row by row), and the registers of a lane for each matrix.

    `slot`: which of its lane's elements of that matrix it is.
    """
    shares = [lane_share(instruction, lane) for lane in range(LANES)]
    m, n, k = shares[0].shape
    found: dict[str, Any] = {"m": m, "n": n, "k": k, "registers": shares[0].registers, "owner": {}, "slot": {}}
    for name, (rows, columns) in (("A", (m, k)), ("B", (k, n)), ("C", (m, n))):
        at = {place: (share.lane, slot) for share in shares for slot, place in enumerate(share.elements[name])}
        places = [(row, column) for row in range(rows) for column in range(columns)]
        found["owner"][name], found["slot"][name] = ([at[place][part] for place in places] for part in (0, 1))
    return found


@functools.cache
def states() -> dict[str, Any]:
    """Return every instruction as JSON takes it."""
    return {"instructions": list(LABELS.items()), "at": {key: held(name) for key, name in SHOWN.items()}}


class Fragments(Explorable):
    """Lanes and their elements; made by `fragments`."""

    name = "fragments"
    title = "Who holds which element"
    _esm = module_text("fragments")

    def static_text(self) -> str:
        return (f"{self.title}: A, B and C of one instruction of the tensor cores, each element with the number of the lane that holds it. "
                "You choose the instruction and a lane, and see from where the factors of its sums come. Run this cell to play it.")


def fragments(instruction: str = "tf32", lane: int = 5) -> Fragments:
    """Play one matrix instruction, k by k: which lanes hold the factors of one lane's sums.

    Parameters
    ----------
    instruction
        A key of `SHOWN`.
    lane
        Whose sums are followed.
    """
    return Fragments(states=states(), values={"instruction": instruction, "lane": lane})
