"""Write docs/ptx-coverage.md: forms of instructions.

It is made from the simulator's tables of instruction forms (the FORMS of course_lib/simt/isa/).
"""

import re

from course_lib.simt.isa import coverage
from tools import ROOT
from tools.pages import page_command

PAGE = ROOT / "docs" / "ptx-coverage.md"
HEAD = """# Which PTX the simulator covers

Written by `python -m tools page ptx-coverage` from the `FORMS` of `course_lib/simt/isa/`, which the simulator itself obeys: an
instruction whose form is not here is refused with `UnsupportedInstruction`, by name and source line.
`tests/simt/test_coverage.py` runs what is listed.

Sections and forms follow NVIDIA's "PTX ISA" manual. `[.sat]` may stand there or not, `(.u32/.s32)` is one of these, `[.rn/.rz]` is one
of these or nothing. Results are `d`, `p`, `q`, sources `a` to `e`; `imm` is a literal. Modifiers stand in the order shown, those
of `atom` and `red` in any. Every instruction may have a guard (`@p`, `@!p`). Hints for caches and prefetches are read and change nothing.
"""

REFUSED = """## Refused

Known to the manual and refused, with the reason that the error gives:

| opcodes | because |
|---|---|"""
ELSE = """
Refused as well: every form of the opcodes above that is not listed, such as atomics on 16-bit types, matrices of 4 bits or of 1 bit,
sparse matrices (`mma.sp`); and opcodes that are not here at all.
"""


def shown(pattern: str) -> str:
    """Return the part of a row behind its opcode as the page writes it.

    >>> shown("add[.sat].(s32|u32)")
    '[.sat](.s32/.u32)'
    """
    text = re.sub(r"^(?:\w|\([\w|]+\))+", "", pattern)
    out, depth, dotted = [], [], ""
    for at, letter in enumerate(text):
        if letter == "." and text[at + 1:at + 2] == "(":
            dotted = "."
            continue
        if letter in "([":
            depth.append(dotted if letter == "(" else "")
            out.append(letter + depth[-1])
            dotted = ""
        elif letter in ")]":
            depth.pop()
            out.append(letter)
        else:
            out.append("/" + depth[-1] if letter == "|" else letter)
    return "".join(out)


def page(_: str = "") -> str:
    """Return the page's text, whatever it was before."""
    lines = [HEAD]
    for section, rows in coverage.SECTIONS.items():
        lines += [f"## {section}", "", "| opcodes | modifiers and types | operands |", "|---|---|---|"]
        for pattern, operands in rows:
            names = ", ".join(f"`{name}`" for name in coverage.opcodes_of(pattern))
            lines.append(f"| {names} | {code(shown(pattern))} | {code(operands)} |")
        lines.append("")
    lines += [REFUSED]
    for names, why in coverage.REFUSED:
        lines.append(f"| {', '.join(f'`{name}`' for name in names.split())} | {why} |")
    lines += [ELSE]
    return "\n".join(lines)


def code(text: str) -> str:
    """Return text as a code span of a table's cell."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


command = page_command(PAGE, page)
