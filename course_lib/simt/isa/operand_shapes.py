"""Do an instruction's operands have the shape of its row: how many, and which are registers, addresses, braces, literals?

The second half of a row of `FORMS` says it, in the manual's letters: `p[|q], a, b[, c]`. Types and widths are `passes/verify.py`'s.
"""

import functools
import re
from collections.abc import Iterator

from course_lib.simt.ptx.ir import Imm, Instruction, Mem, Operand, Reg, Sym, Vec, opened

ELSEWHERE = ("label", "a, list of labels", "[(results),] function[, (parameters)]")     # branches and calls: verify.py knows what they name
RESULTS = "dpq"
# As ptxas takes them: `ld.global.b32 {%r1}, [%rd1]`, which Triton writes.
MAY_STAND_ALONE_IN_BRACES = ("ld", "ldu", "st", "mov", "suld", "sust")


@functools.cache
def alternatives(shape: str) -> tuple[tuple[str, ...], ...]:
    """Return what a shape stands for, each as its operands; what may be left out is there in one and not in the other.

    >>> alternatives("p[|q], a, b[, c]")
    (('p', 'q', 'a', 'b', 'c'), ('p', 'q', 'a', 'b'), ('p', 'a', 'b', 'c'), ('p', 'a', 'b'))
    >>> alternatives("d, {a, b}"), alternatives("[a], b"), alternatives("d, [a, {b, c}]")
    ((('d', '{a, b}'),), (('[a]', 'b'),), (('d', '[a, {b, c}]'),))
    """
    optional = re.search(r"\[([,|][^\]]*)\]", shape)
    if optional:
        before, after = shape[:optional.start()], shape[optional.end():]
        return alternatives(before + optional[1] + after) + alternatives(before + after)
    return (tuple(re.findall(r"\[\w, \{[^}]*\}\]|\{[^}]*\}|[^,|\s]+", shape)),)


def fits(shape: str, ins: Instruction) -> bool:
    """Say whether an instruction's operands have a shape."""
    if shape in ELSEWHERE:
        return True
    given = list(without_lone_braces(ins))
    if "L2__cache_hint" in ins.opcode and given:        # a policy stands last; it changes no value
        given.pop()
    vectors = any(re.fullmatch(r"v\d+", part) for part in ins.opcode)
    return any(len(wanted) == len(given) and all(has_shape(one, of, vectors) for one, of in zip(given, wanted))
               for wanted in alternatives(shape))


def without_lone_braces(ins: Instruction) -> tuple[Operand, ...]:
    """Return the operands of an instruction; braces around a single value of a load, a store or a move are gone.

    >>> without_lone_braces(Instruction(("mov", "b32"), (Vec((Reg("%r1"),)), Reg("%r2")), None, 0))
    (Reg(name='%r1', negated=False), Reg(name='%r2', negated=False))
    """
    if ins.opcode[0] not in MAY_STAND_ALONE_IN_BRACES or any(re.fullmatch(r"v\d+", part) for part in ins.opcode):
        return ins.operands
    return tuple(o.items[0] if isinstance(o, Vec) and len(o.items) == 1 else o for o in ins.operands)


def has_shape(operand: Operand, wanted: str, vectors: bool) -> bool:
    """Say whether one operand is what a letter, braces, brackets or a literal of a shape ask for; `vectors`: data may stand in braces."""
    if wanted.startswith("[") and "{" in wanted:        # a texture or surface, and where: one coordinate may stand without braces
        parts = operand.items if isinstance(operand, Vec) else ()
        given = tuple(opened(parts[1:]))
        return len(parts) == 2 and isinstance(parts[0], Mem) and ("..." in wanted or len(given) == len(re.findall(r"\w", wanted)) - 1) and \
            all(isinstance(item, Reg | Imm) for item in given)
    if wanted.startswith("["):
        return isinstance(operand, Mem) if not wanted.startswith("[!]") else isinstance(operand, Reg | Imm)
    if wanted.startswith("{"):
        letters = re.findall(r"\w", wanted)
        if len(letters) == 1:                           # a fragment: its module knows of how many registers
            return isinstance(operand, Reg) or isinstance(operand, Vec) and all(isinstance(item, Reg) for item in operand.items)
        return isinstance(operand, Vec) and len(operand.items) == len(letters) and all(
            has_shape(item, letter, False) for item, letter in zip(operand.items, letters))
    if wanted == "imm" or wanted[0].isdigit():
        return isinstance(operand, Imm)
    if isinstance(operand, Vec) and vectors:
        return all(has_shape(item, wanted, False) for item in operand.items)
    return isinstance(operand, Reg if wanted in RESULTS else Reg | Imm | Sym)


def spelled(shapes: list[str]) -> Iterator[str]:
    """Yield shapes as a message names them.

    >>> list(spelled(["p[|q], a, b", ""]))
    ['p[|q], a, b', 'no operands']
    """
    yield from (shape or "no operands" for shape in dict.fromkeys(shapes))
