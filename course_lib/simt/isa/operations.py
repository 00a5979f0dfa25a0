"""Every arithmetic instruction by its opcode: what it takes, and how it is computed for one lane or for 32.

Importing this module fills the table (`table.OPS`): each of the modules below registers the instructions of one section of the manual.
"""

from collections.abc import Sequence

from course_lib.simt.isa import approximate, arithmetic, bits, carry, compare, fields, hints
from course_lib.simt.isa.protocols import Results, Writer
from course_lib.simt.isa.table import OPS, ir_type
from course_lib.simt.ptx.ir import Instruction

SECTIONS = (arithmetic, approximate, bits, carry, compare, fields, hints)


def compute(code: Writer, ins: Instruction, sources: Sequence[str]) -> Results:
    """Emit one arithmetic instruction, whose form `coverage.check_form` has found in the table; return its results."""
    return OPS[ins.opcode[0]][1](code, ins, sources)


__all__ = ["OPS", "SECTIONS", "compute", "ir_type"]
