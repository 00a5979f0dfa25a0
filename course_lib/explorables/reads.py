"""Lesson 15's picture of registers: which registers each multiply-add reads, by bank, in two orders; from recorded machine code.

The machine code is that of the recording "closing": the loop of `micro_outer`, which multiplies numbers in registers alone. Which
registers are read, the rule of `course_lib.model.operands` says.
"""

import functools
from dataclasses import dataclass
from typing import Any

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.operands import is_ffma, registers_read

SIDE = 8                                    # each of 8 numbers times each of 8
CODES = {"Row by row": "outer_in_rows", "There and back": "outer_there_and_back"}


@dataclass(frozen=True)
class Line:
    """An instruction of recorded machine code, as `registers_read` takes it."""

    offset: int
    opcode: str
    operands: tuple[str, ...]


def machine_code(name: str) -> tuple[tuple[Line, ...], str]:
    """Return a recorded loop and the version of the compiler that made it."""
    row, = data.readings("closing").find(code=name)
    return tuple(Line(16 * n, opcode, tuple(words)) for n, (opcode, *words) in enumerate(row["instructions"])), row["nvrtc"]


def number(operand: str) -> int:
    """Return the number of the register in an operand.

    >>> number("R35.reuse")
    35
    """
    return int(operand.removesuffix(".reuse")[1:])


def sides(code: tuple[Line, ...]) -> tuple[list[int], list[int]]:
    """Return the registers of the two factors, in the order in which they first appear; that of the first operand comes first.

    Raises
    ------
    ValueError
        When the multiply-adds are not those of 8 registers with each of 8 others.
    """
    pairs = [(number(line.operands[1]), number(line.operands[2])) for line in code if is_ffma(line)]
    rows = {pairs[0][0]}
    for _ in pairs:                         # whoever is multiplied by a partner of a row is a row
        columns = {y if x in rows else x for x, y in pairs if {x, y} & rows}
        rows |= {y if x in columns else x for x, y in pairs if {x, y} & columns}
    if len(rows) != SIDE or len(columns) != SIDE or rows & columns or len(set(map(frozenset, pairs))) != SIDE**2:
        raise ValueError("these are not the products of 8 registers with each of 8 others")
    seen = list(dict.fromkeys(register for pair in pairs for register in pair))
    return [r for r in seen if r in rows], [r for r in seen if r in columns]


def steps(name: str) -> dict[str, Any]:
    """Return one loop as the picture takes it: the registers of rows and columns, and what each multiply-add reads and keeps."""
    code, version = machine_code(name)
    rows, columns = sides(code)
    adds = [line for line in code if is_ffma(line)]
    found = []
    for line, read in zip(adds, registers_read(code), strict=True):
        one, two = number(line.operands[1]), number(line.operands[2])
        row, column = (one, two) if one in rows else (two, one)
        kept = sorted({number(word) for word in line.operands[1:]} - read)
        found.append({"text": f"{line.opcode} {', '.join(line.operands)}", "row": rows.index(row), "column": columns.index(column),
                      "read": sorted(read), "kept": kept})
    return {"rows": rows, "columns": columns, "nvrtc": version, "others": len(code) - len(adds), "adds": found}


@functools.cache
def states() -> dict[str, Any]:
    """Return both orders as JSON takes them; a recording is read, and no kernel runs."""
    return {"names": list(CODES), "orders": [steps(name) for name in CODES.values()]}


class Reads(Explorable):
    """Two orders of the same multiply-adds and the registers that they read; made by `register_reads`."""

    name = "reads"
    title = "Which registers a multiply-add reads"
    _esm = module_text("reads")

    def static_text(self) -> str:
        return (f"{self.title}: 64 multiply-adds in two orders side by side, row by row and there and back, with the registers that each "
                "reads from the even and from the odd bank. Run this cell to play it.")


def register_reads() -> Reads:
    """Play 64 multiply-adds in two orders, with a cell for each register that a bank delivers."""
    return Reads(states=states(), values={})
