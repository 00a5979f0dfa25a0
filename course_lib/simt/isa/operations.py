"""Every arithmetic instruction by its opcode: what it takes, and how it is computed for one lane or for 32.

Importing this module fills the table (`table.OPS`): each of the modules below registers the instructions of one section of the manual.
"""

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa import approximate, arithmetic, bits, carry, compare, fields, hints
from course_lib.simt.isa.table import OPS, ir_type

SECTIONS = (arithmetic, approximate, bits, carry, compare, fields, hints)


def compute(code, ins, sources):
    """Emit one arithmetic instruction; return its results.

    Raises
    ------
    UnsupportedInstruction
        For a form (type, rounding, modifier) that is not covered.
    """
    try:
        return OPS[ins.opcode[0]][1](code, ins, sources)
    except (NotImplementedError, KeyError):
        line = f"line {ins.line}: " if ins.line else ""
        raise UnsupportedInstruction(f"{line}the simulator does not know the form {ins.name}.", opcode=ins.name, line=ins.line) from None


__all__ = ["OPS", "SECTIONS", "compute", "ir_type"]
