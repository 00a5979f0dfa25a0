"""What atom and red make of the number in memory; machine.py carries it out lane after lane, the lowest first."""

from collections.abc import Callable, Sequence

from course_lib.simt.model.types import cut, width
from course_lib.simt.ptx.ir import Instruction

PLAIN: dict[str, Callable[..., int]] = {
    "exch": lambda old, b: b,
    "cas": lambda old, b, c: c if old == b else old,
    "inc": lambda old, b: 0 if old >= b else old + 1,
    "dec": lambda old, b: b if old == 0 or old > b else old - 1,
}
INFINITY, QUIET, NEGATIVE_NAN = 0x7FF << 52, 1 << 51, 0xFFF8 << 48     # of double precision
INFINITIES = {INFINITY, INFINITY | 1 << 63}
SAME = ("add", "min", "max", "and", "or", "xor")    # as the instruction of that name


def changed(ins: Instruction, old: int, given: Sequence[int], compute: Callable[[str, Sequence[int]], int]) -> int:
    """Return the bits that take the place of `old`; `compute` evaluates an instruction by its name."""
    kind = ins.opcode[-1]
    change = next(part for part in ins.opcode if part in PLAIN or part in SAME)
    if kind == "f64" and (nan := next((value for value in (*given, old) if cut(value, 63) > INFINITY), None)) is not None:
        return nan | QUIET
    if change in SAME:
        flush = ".ftz" if kind == "f32" and "shared" not in ins.opcode else ""    # in global memory; PTX ISA, "atom"
        return NEGATIVE_NAN if kind == "f64" and {*given, old} == INFINITIES else compute(f"{change}{flush}.{kind}", [old, *given])
    return PLAIN[change](old, *(cut(value, width(kind)) for value in given))


def elements(ins: Instruction) -> int:
    """Return how many numbers lie side by side: `.v4` changes four."""
    return next((int(part[1:]) for part in ins.opcode if part in ("v2", "v4", "v8")), 1)


def plain(ins: Instruction, name: str) -> Instruction:
    """Return the instruction `name` in place of an atomic that computes the same."""
    return Instruction(tuple(name.split(".")), (), None, ins.line)
