"""Instructions on bits: logic, shifts, counts, bit fields, bytes ("PTX ISA", Logic and Shift, Integer Arithmetic)."""

from collections.abc import Sequence

from course_lib.simt.isa.protocols import Results, Signature, Writer
from course_lib.simt.isa.spelling import INT
from course_lib.simt.isa.table import ir_type, kind, op, same, signed
from course_lib.simt.ptx.ir import Instruction, type_bytes

FORMS = {
    "Logic, shifts, bits and bytes": (
        ("(and|or|xor).(pred|b16|b32|b64)", "d, a, b"), ("not.(pred|b16|b32|b64)", "d, a"), ("cnot.(b16|b32|b64)", "d, a"),
        ("lop3.b32", "d, a, b, c, imm"), ("lop3.(or|and).b32", "d|p, a, b, c, imm, q"),
        ("shl.(b16|b32|b64)", "d, a, b"), (f"shr.(b16|b32|b64|{INT})", "d, a, b"), ("shf.(l|r).(wrap|clamp).b32", "d, a, b, c"),
        ("(popc|clz|brev).(b32|b64)", "d, a"), ("bfind[.shiftamt].(u32|s32|u64|s64)", "d, a"),
        ("bfe.(u32|s32|u64|s64)", "d, a, b, c"), ("bfi.(b32|b64)", "d, a, b, c, e"),
    ),
}


@op("and", "or", "xor", signature=same(2))
def emit_logic(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return (code.binary(ins.opcode[0], ir_type(kind(ins)), *s),)


@op("not", "cnot", signature=same(1))
def emit_not(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t = ir_type(kind(ins))
    if ins.opcode[0] == "not":
        return (code.binary("xor", t, s[0], code.const(t, -1 if t != "i1" else "true")),)
    zero = code.compare("icmp eq", t, s[0], code.const(t, 0))
    return (code.cast("zext", "i1", zero, t),)


@op("shl", "shr", signature=lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)), "i32")))
def emit_shift(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t = ir_type(kind(ins))
    bits = int(t[1:])
    arithmetic = ins.opcode[0] == "shr" and signed(ins)
    amount = code.call("umin", "i32", s[1], code.const("i32", bits - 1))
    cast = code.cast("zext" if bits > 32 else "trunc", "i32", amount, t)
    how = "shl" if ins.opcode[0] == "shl" else "ashr" if arithmetic else "lshr"
    shifted = code.binary(how, t, s[0], cast)
    if arithmetic:
        return (shifted,)
    over = code.compare("icmp ugt", "i32", s[1], code.const("i32", bits - 1))
    return (code.select(over, t, code.const(t, 0), shifted),)


@op("shf", signature=same(3))
def emit_funnel(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    low, upper, amount = s
    if "clamp" in ins.opcode:
        amount = code.call("umin", "i32", amount, code.const("i32", 32))
        wide = [code.cast("zext", "i32", v, "i64") for v in (low, upper, amount)]
        both = code.binary("or", "i64", wide[0], code.binary("shl", "i64", wide[1], code.const("i64", 32)))
        if "l" in ins.opcode:
            moved = code.binary("lshr", "i64", code.binary("shl", "i64", both, wide[2]), code.const("i64", 32))
        else:
            moved = code.binary("lshr", "i64", both, wide[2])
        return (code.cast("trunc", "i64", moved, "i32"),)
    how = "fshl" if "l" in ins.opcode else "fshr"
    return (code.call(how, "i32", upper, low, amount),)


@op("lop3", signature=lambda ins: (("i32",), ("i32",) * 3 + ("imm",)))
def emit_lop3(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    table, result = int(s[3]), code.const("i32", 0)
    inverted = [code.binary("xor", "i32", v, code.const("i32", -1)) for v in s[:3]]
    for row in range(8):
        if table >> row & 1:
            term = [s[i] if row >> (2 - i) & 1 else inverted[i] for i in range(3)]
            both = code.binary("and", "i32", code.binary("and", "i32", term[0], term[1]), term[2])
            result = code.binary("or", "i32", result, both)
    return (result,)


def count_signature(ins: Instruction) -> Signature:
    return ("i32",), (ir_type(kind(ins)),)


@op("popc", "clz", "bfind", signature=count_signature)
def emit_count(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t, bits = ir_type(kind(ins)), type_bytes(kind(ins)) * 8
    false = ("i1", "false")
    if ins.opcode[0] == "popc":
        return (code.cast("trunc", t, code.call("ctpop", t, s[0]), "i32"),)
    value = s[0]
    if ins.opcode[0] == "bfind" and signed(ins):
        value = code.binary("xor", t, value, code.binary("ashr", t, value, code.const(t, bits - 1)))
    zeros = code.cast("trunc", t, code.call("ctlz", t, value, extra=(false,)), "i32")
    if ins.opcode[0] == "clz":
        return (zeros,)
    found = zeros if "shiftamt" in ins.opcode else code.binary("sub", "i32", code.const("i32", bits - 1), zeros)
    none = code.compare("icmp eq", t, value, code.const(t, 0))
    return (code.select(none, "i32", code.const("i32", -1), found),)


@op("brev", signature=same(1))
def emit_brev(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return (code.call("bitreverse", ir_type(kind(ins)), s[0]),)


@op("bfe", signature=lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)), "i32", "i32")))
def emit_bfe(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """Done in 128 bits, so that no shift is out of range."""
    t, bits, w = ir_type(kind(ins)), type_bytes(kind(ins)) * 8, "i128"
    byte = code.const("i32", 255)
    start, length = (code.binary("and", "i32", v, byte) for v in s[1:])
    length = code.call("umin", "i32", length, code.const("i32", bits))
    start = code.call("umin", "i32", start, code.const("i32", bits))
    value = code.cast("sext" if signed(ins) else "zext", t, s[0], w)
    start, length = (code.cast("zext", "i32", v, w) for v in (start, length))
    left = code.binary("sub", w, code.const(w, 128), length)
    none = code.compare("icmp eq", w, length, code.const(w, 0))
    left = code.select(none, w, code.const(w, 0), left)
    shift = "ashr" if signed(ins) else "lshr"
    field = code.binary(shift, w, code.binary("shl", w, code.binary(shift, w, value, start), left), left)
    field = code.select(none, w, code.const(w, 0), field)
    return (code.cast("trunc", w, field, t),)


@op("bfi", signature=lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)),) * 2 + ("i32", "i32")))
def emit_bfi(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t, w = ir_type(kind(ins)), "i128"
    bits = int(t[1:])
    byte, limit = code.const("i32", 255), code.const("i32", bits)
    start, length = (code.call("umin", "i32", code.binary("and", "i32", v, byte), limit) for v in s[2:])
    start, length = (code.cast("zext", "i32", v, w) for v in (start, length))
    value, under = (code.cast("zext", t, v, w) for v in s[:2])
    one = code.const(w, 1)
    ones = code.binary("sub", w, code.binary("shl", w, one, length), one)
    mask = code.binary("shl", w, ones, start)
    rest = code.binary("and", w, under, code.binary("xor", w, mask, code.const(w, -1)))
    put = code.binary("and", w, code.binary("shl", w, value, start), mask)
    return (code.cast("trunc", w, code.binary("or", w, rest, put), t),)


@op("prmt", signature=lambda ins: (("i32",), ("i32",) * 3))
def emit_prmt(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    both = code.cast("zext", "i32", s[0], "i64")
    upper = code.binary("shl", "i64", code.cast("zext", "i32", s[1], "i64"), code.const("i64", 32))
    both, result = code.binary("or", "i64", both, upper), code.const("i32", 0)
    for i in range(4):
        choice = code.binary("lshr", "i32", s[2], code.const("i32", 4 * i))
        which = code.binary("and", "i32", choice, code.const("i32", 7))
        amount = code.cast("zext", "i32", code.binary("shl", "i32", which, code.const("i32", 3)), "i64")
        byte = code.cast("trunc", "i64", code.binary("lshr", "i64", both, amount), "i8")
        sign = code.binary("ashr", "i8", byte, code.const("i8", 7))
        spread = code.binary("and", "i32", choice, code.const("i32", 8))
        replicate = code.compare("icmp ne", "i32", spread, code.const("i32", 0))
        byte = code.cast("zext", "i8", code.select(replicate, "i8", sign, byte), "i32")
        moved = code.binary("shl", "i32", byte, code.const("i32", 8 * i))
        result = code.binary("or", "i32", result, moved)
    return (result,)


@op("sad", signature=same(3))
def emit_sad(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t = ir_type(kind(ins))
    if signed(ins):
        distance = code.binary("sub", t, code.call("smax", t, *s[:2]), code.call("smin", t, *s[:2]))
    else:                        # not by umax and umin: where LLVM 22 knows both signs, it makes the signed distance of that
        distance = code.binary("or", t, code.call("usub.sat", t, *s[:2]), code.call("usub.sat", t, s[1], s[0]))
    return (code.binary("add", t, distance, s[2]),)
