"""Arithmetic with the carry flag: add.cc, addc, sub.cc, subc, mad.cc, madc ("PTX ISA", Extended-Precision Integer Arithmetic).

The flag is a predicate register of its own in every thread, `CARRY`. `passes/normalise.py` writes it out as an operand: the flag behind the
result in braces where an instruction sets it, as the last source where it reads it. A subtraction adds the complement, so its flag
is set when there is *no* borrow. The manual does not say so; NVIDIA's own division of 128-bit integers relies on it (subc.cc, then addc).
"""

from collections.abc import Sequence

from course_lib.simt.isa.protocols import Results, Signature, Writer
from course_lib.simt.isa.table import high, ir_type, kind, op, wide_product
from course_lib.simt.ptx.ir import Instruction

FORMS = {
    "Extended precision": (
        ("(add|sub).cc.(u32|s32|u64|s64)", "d, a, b"), ("(addc|subc)[.cc].(u32|s32|u64|s64)", "d, a, b"),
        ("mad.(lo|hi).cc.(u32|s32|u64|s64)", "d, a, b, c"), ("madc.(lo|hi)[.cc].(u32|s32|u64|s64)", "d, a, b, c"),
    ),
}

CARRY = "%carry-flag"  # no name that PTX text can contain
FIRST = {"add": 2, "sub": 2, "mad.lo": 3, "mad.hi": 3}  # sources without the flag
SETS = tuple(f"{name}.cc" for name in FIRST)
BOTH = tuple(f"{name.replace('.', 'c.') if '.' in name else name + 'c'}.cc" for name in FIRST)
READS = tuple(name.removesuffix(".cc") for name in BOTH)


def uses_flag(ins: Instruction) -> bool:
    """Say whether an instruction, as PTX spells it, reads or sets the flag."""
    return ins.opcode[0] in ("addc", "subc", "madc") or ins.opcode[0] in ("add", "sub", "mad") and "cc" in ins.opcode


def count(name: str) -> int:
    """Return how many sources an instruction of this family has besides the flag."""
    return 3 if name.startswith("mad") else 2


def signature(ins: Instruction) -> Signature:
    t, name = ir_type(kind(ins)), ins.opcode[0]
    return (t,) + (("i1",) if name in SETS + BOTH else ()), (t,) * count(name) + (("i1",) if name in READS + BOTH else ())


@op(*SETS, *BOTH, *READS, signature=signature)
def emit_carry(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t, name = ir_type(kind(ins)), ins.opcode[0]
    n = count(name)
    flag = code.cast("zext", "i1", s[n], t) if len(s) > n else code.const(t, 0)
    if name.startswith("sub"):
        a, b = s[0], code.binary("xor", t, s[1], code.const(t, -1))
        flag = flag if len(s) > n else code.const(t, 1)
    elif name.startswith("mad"):
        a, b = high(code, ins, wide_product(code, ins, *s[:2])) if ".hi" in name else code.binary("mul", t, *s[:2]), s[2]
    else:
        a, b = s[:2]
    first = code.binary("add", t, a, b)
    result = code.binary("add", t, first, flag)
    outs = code.compare("icmp ult", t, first, a), code.compare("icmp ult", t, result, first)
    return (result, code.binary("or", "i1", *outs)) if name not in READS else (result,)
