"""Which PTX the simulator covers: every opcode with its types and modifiers, and what is refused. The code obeys this table.

A row is `(pattern, operands)`, written as in NVIDIA's "PTX ISA" manual: `[.sat]` may stand there or not, `(u32|s32)` is one of
these. An instruction whose opcode has rows and whose form fits none of them is refused by name (`check_form`), so nothing runs that is
not listed. `tests/simt/test_coverage.py` translates and runs each form that is listed, and looks for opcodes without a row;
`python -m tools page ptx-coverage` writes `docs/ptx-coverage.md`.

To add an opcode: put a row into the `FORMS` of the module of its section, and its meaning below it (`table.op`). Operands: `d`, `p`,
`q` results, `a` … `e` sources, `imm` a literal, anything else as it is written. The test makes an instruction of a form by itself
(`tests/simt/coverage_examples.py`).
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from course_lib.simt.errors import PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.isa import (
    approximate,
    arithmetic,
    async_copies,
    barriers,
    bits,
    bulk_copies,
    carry,
    clusters,
    compare,
    control,
    convert,
    fields,
    halves,
    hints,
    images,
    mbarriers,
    memory,
    operand_shapes,
    remote_stores,
    tensor,
    tensor_copies,
    warp,
    warpgroup,
)
from course_lib.simt.ptx.ir import Instruction, Kind, at_line

MODULES = (arithmetic, approximate, fields, carry, bits, compare, halves, convert, memory, hints, barriers, control, warp, tensor,
           warpgroup, async_copies, mbarriers, bulk_copies, tensor_copies, clusters, remote_stores, images)
ORDER = ("Integer arithmetic", "Extended precision", "Logic, shifts, bits and bytes", "Comparison and selection", "Floating point",
         "Half precision and bfloat16", "Moves and conversions", "Loads, stores and atomics",
         "Hints, fences and other instructions without a value", "Control", "Barriers and exchange between lanes", "Clusters of blocks",
         "Packed video instructions", "Matrices of a warp", "Matrices of a warpgroup", "Asynchronous copies", "Textures and surfaces")
SECTIONS = {title: tuple(row for module in MODULES for row in module.FORMS.get(title, ())) for title in ORDER}
REFUSED = (
    ("txq istypep sured suq", "textures and surfaces beyond fetches, loads and stores"),
    ("tcgen05", "matrix instructions of a single architecture (sm_100a)"),
    ("clusterlaunchcontrol griddepcontrol tensormap multimem", "features of single architectures"),
    ("alloca stackrestore stacksave", "stack memory of a size that is not known before the launch"),
    ("vadd vsub vabsdiff vmin vmax vshl vshr vmad vset", "video instructions on one part of a word; compilers do not write them any more"),
    ("discard", "would leave memory undefined"),
)


ANY_ORDER = {"ld", "ldu", "st", "add", "sub", "mul", "fma", "mad", "min", "max", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2",
             "sin", "cos", "tanh", "neg", "abs", "setp", "set", "cvt", "ldmatrix", "stmatrix"}      # no two modifiers differ by place alone
MOST_MODIFIERS = 7      # before the type; more are left as they stand, for each order is tried


def opcodes_of(pattern: str) -> list[str]:
    """Return the opcodes of a row.

    >>> opcodes_of("add[.sat].s32"), opcodes_of("v(min|max)(2|4).u32")
    (['add'], ['vmin2', 'vmin4', 'vmax2', 'vmax4'])
    """
    opcode = re.match(r"(?:\w|\([\w|]+\))*", pattern)
    parts = re.findall(r"\w+|\([\w|]+\)", opcode[0] if opcode else "")
    return ["".join(choice) for choice in itertools.product(*(p.strip("()").split("|") for p in parts))]


def forms_of(pattern: str) -> Iterator[str]:
    """Yield the forms that a row stands for (loads and stores: half a million).

    >>> list(forms_of("add[.sat].(s32|u32)"))
    ['add.s32', 'add.u32', 'add.sat.s32', 'add.sat.u32']
    """
    return written(parsed(iter(pattern)))


def parsed(letters: Iterator[str]) -> list[list[Any]]:
    """Return a pattern (an iterator over its letters) up to its closing bracket as alternatives: lists of letters and alternatives."""
    found: list[list[Any]] = [[]]
    for letter in letters:
        if letter in "([":
            found[-1].append(([[]] if letter == "[" else []) + parsed(letters))
        elif letter == "|":
            found.append([])
        elif letter in ")]":
            break
        else:
            found[-1].append(letter)
    return found


def written(alternatives: Iterable[Iterable[Any]]) -> Iterator[str]:
    for parts in alternatives:
        choices = [(part,) if isinstance(part, str) else list(written(part)) for part in parts]
        yield from map("".join, itertools.product(*choices))


@functools.cache
def rows() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """Return {opcode: [(compiled pattern, shape of the operands) of each of its rows]}."""
    found: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for pattern, shape in itertools.chain(*SECTIONS.values()):
        expression = re.compile(as_expression(pattern))
        for opcode in opcodes_of(pattern):
            found.setdefault(opcode, []).append((expression, shape))
    return found


def as_expression(pattern: str) -> str:
    """Return a row's pattern as a regular expression.

    >>> bool(re.fullmatch(as_expression("add[.sat].(s32|u32)"), "add.u32"))
    True
    """
    return pattern.replace(".", r"\.").replace("(", "(?:").replace("[", "(?:").replace("]", ")?")


def in_order(ins: Instruction) -> Instruction:
    """Return an instruction with its modifiers in the order of the table: assemblers read `fma.ftz.rn.f32` as `fma.rn.ftz.f32`."""
    if ins.kind is Kind.ATOMIC:
        ordered = dataclasses.replace(ins, opcode=warp.in_order(ins.opcode))
        return ordered if covers(ordered.name.replace("__", "::")) else ins
    if ins.opcode[0] not in ANY_ORDER or covers(ins.name.replace("__", "::")):
        return ins
    first = next((at for at, part in enumerate(ins.opcode) if re.fullmatch(r"[busf]f?\d+(x2)?|v[248]|pred", part)), len(ins.opcode))
    for modifiers in itertools.permutations(ins.opcode[1:first] if first <= MOST_MODIFIERS else ()):
        opcode = (ins.opcode[0], *modifiers, *ins.opcode[first:])
        if covers(".".join(opcode).replace("__", "::")):
            return dataclasses.replace(ins, opcode=opcode)
    return ins


def check_form(ins: Instruction) -> None:
    """Refuse an instruction whose form is not in the table, or whose operands are not those of its row.

    Raises
    ------
    UnsupportedInstruction
        Names the form and its source line.
    PtxSyntaxError
        Says which operands the form takes.
    """
    written = ins.name.replace("__", "::")
    line = at_line(ins)
    if not covers(written):
        why = images.reason(ins) or tensor_copies.reason(ins)
        raise UnsupportedInstruction(f"{line}the simulator does not know the form {written}{why}.", opcode=written, line=ins.where)
    shapes = shapes_of(written)
    if shapes and not any(operand_shapes.fits(shape, ins) for shape in shapes):
        wanted = " or ".join(operand_shapes.spelled(shapes))
        if images.knows(ins):       # whether texels are resident, offsets, samplers of their own: PTX, but not covered
            raise UnsupportedInstruction(f"{line}the simulator knows {written} only as {wanted}.", opcode=written, line=ins.where)
        raise PtxSyntaxError(f"{line}{written} takes {wanted} (d, p and q are registers for results, a to e what is read).",
                             opcode=written, line=ins.where)


@functools.lru_cache(maxsize=4096)
def covers(written: str) -> bool:
    """Say whether a form such as `add.sat.s32` is in the table.

    Opcodes without a row are not judged; `pipeline.refuse_unknown` refuses them.
    """
    return written.partition(".")[0] not in rows() or bool(shapes_of(written))


@functools.lru_cache(maxsize=4096)
def shapes_of(written: str) -> list[str]:
    """Return the shapes of the operands that a form may have, from its rows.

    >>> shapes_of("add.s32"), shapes_of("mov.b64")
    (['d, a, b'], ['d, a', 'd, {a, b}', '{d, e}, a', 'd, {a, b, c, e}', '{d, e, f, g}, a'])
    """
    return [shape for expression, shape in rows().get(written.partition(".")[0], ()) if expression.fullmatch(written)]


def reason(opcode: str) -> str:
    """Return why an opcode is refused, as a part of a sentence; empty when it is not known at all."""
    for names, why in REFUSED:
        if opcode in names.split():
            return f" ({why})"
    return ""


def refused() -> dict[str, str]:
    """Return {opcode: reason} of the opcodes that are known and refused."""
    return {name: why for names, why in REFUSED for name in names.split()}
