"""Comparisons and choices: setp, set, selp, slct ("PTX ISA", Comparison and Selection Instructions, also for half precision)."""

from collections.abc import Sequence

from course_lib.simt.isa import convert, halves
from course_lib.simt.isa.protocols import Results, Signature, Writer
from course_lib.simt.isa.spelling import FLOAT_ORDER, INT, JOIN, ORDER
from course_lib.simt.isa.table import FLOATS, as_float, ir_type, is_float, kind, op
from course_lib.simt.ptx.ir import Instruction

FORMS = {
    "Comparison and selection": (
        (f"setp.({ORDER}).(b16|b32|b64|{INT})", "p[|q], a, b"), (f"setp.({ORDER}).(and|or|xor).(b16|b32|b64|{INT})", "p[|q], a, b, [!]c"),
        ("setp.(lo|ls|hi|hs)" + JOIN + ".(u16|u32|u64)", "p[|q], a, b[, c]"),
        (f"setp.({FLOAT_ORDER}){JOIN}[.ftz].f32", "p[|q], a, b[, c]"), (f"setp.({FLOAT_ORDER}){JOIN}.f64", "p[|q], a, b[, c]"),
        (f"setp.({FLOAT_ORDER}){JOIN}[.ftz].(f16|f16x2)", "p[|q], a, b[, c]"),
        (f"setp.({FLOAT_ORDER}){JOIN}.(bf16|bf16x2)", "p[|q], a, b[, c]"),
        (f"set.({ORDER}|lo|ls|hi|hs){JOIN}.(u32|s32|f32).(b16|b32|b64|{INT})", "d, a, b[, c]"),
        (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u32|s32|f32).(f32|f64)", "d, a, b[, c]"),
        (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u16|s16|u32|s32|f16).f16", "d, a, b[, c]"),
        (f"set.({FLOAT_ORDER}){JOIN}.(u16|s16|u32|s32|bf16).bf16", "d, a, b[, c]"),
        (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u32|s32|f16x2).f16x2", "d, a, b[, c]"),
        (f"set.({FLOAT_ORDER}){JOIN}.(u32|s32|bf16x2).bf16x2", "d, a, b[, c]"),
        (f"selp.(b16|b32|b64|{INT}|f32|f64|f16|bf16)", "d, a, b, c"),
        (f"slct.(b16|b32|b64|{INT}|f32|f64).s32", "d, a, b, c"), (f"slct[.ftz].(b16|b32|b64|{INT}|f32|f64).f32", "d, a, b, c"),
    ),
}

INTEGER_COMPARES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
                    "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
FLOAT_COMPARES = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge",
                  "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
                  "num": "ord", "nan": "uno"}
ONE = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def compare(code: Writer, ins: Instruction, relation: str, type_name: str, a: str, b: str) -> str:
    if is_float(type_name):
        t = FLOATS[type_name]
        if type_name in halves.KINDS:
            t, values = "float", [halves.read(code, ins, type_name, v) for v in (a, b)]
        else:
            values = [as_float(code, type_name, v) for v in (a, b)]
            if "ftz" in ins.opcode:
                values = [convert.flush(code, t, v) for v in values]
        return code.compare(f"fcmp {FLOAT_COMPARES[relation]}", t, *values)
    how = INTEGER_COMPARES[relation]
    if how not in ("eq", "ne"):
        unsigned = relation in ("lo", "ls", "hi", "hs") or type_name[0] in "ub"
        how = ("u" if unsigned else "s") + how
    return code.compare(f"icmp {how}", ir_type(type_name), a, b)


def setp_signature(ins: Instruction) -> Signature:
    combined = any(part in ("and", "or", "xor") for part in ins.opcode)
    n = len(ins.operands) - 2 - combined
    t = ir_type(kind(ins))
    return ("i1",) * n, (t, t) + (("i1",) if combined else ())


@op("setp", signature=setp_signature, whole=True)
def emit_setp(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    how = next((p for p in ins.opcode if p in ("and", "or", "xor")), None)
    dst = setp_signature(ins)[0]
    if kind(ins).endswith("x2"):  # one result for each half
        results = [compare(code, ins, ins.opcode[1], kind(ins)[:-2], *parts) for parts in halves_of(code, s[:2])]
    else:
        results = [compare(code, ins, ins.opcode[1], kind(ins), s[0], s[1])]
    if len(dst) == 2 and len(results) == 1:
        results.append(code.binary("xor", "i1", results[0], code.const("i1", "true")))
    if how:
        results = [code.binary(how, "i1", r, s[2]) for r in results]
    return tuple(results)


def set_signature(ins: Instruction) -> Signature:
    combined = any(p in ("and", "or", "xor") for p in ins.opcode)
    t = ir_type(kind(ins))
    return (ir_type(ins.opcode[-2]),), (t, t) + (("i1",) if combined else ())


def halves_of(code: Writer, values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lower halves of 32-bit values, and the upper ones."""
    low = [code.cast("trunc", "i32", v, "i16") for v in values]
    high = [code.cast("trunc", "i32", code.binary("lshr", "i32", v, code.const("i32", 16)), "i16") for v in values]
    return low, high


@op("set", signature=set_signature, whole=True)
def emit_set(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    if kind(ins).endswith("x2"):
        return (set_halves(code, ins, s),)
    true = compare(code, ins, ins.opcode[1], kind(ins), s[0], s[1])
    how = next((p for p in ins.opcode if p in ("and", "or", "xor")), None)
    if how:
        true = code.binary(how, "i1", true, s[2])
    one = ONE.get(ins.opcode[-2], -1)
    t = ir_type(ins.opcode[-2])
    return (code.select(true, t, code.const(t, one), code.const(t, 0)),)


def set_halves(code: Writer, ins: Instruction, s: Sequence[str]) -> str:
    """`set` of packed numbers: 1.0, or all ones in an integer, in each half whose comparison holds."""
    how = next((p for p in ins.opcode if p in ("and", "or", "xor")), None)
    one, found = ONE.get(ins.opcode[-2].removesuffix("x2"), 0xFFFF), []
    for half, parts in enumerate(halves_of(code, s[:2])):
        true = compare(code, ins, ins.opcode[1], kind(ins)[:-2], *parts)
        true = code.binary(how, "i1", true, s[2]) if how else true
        found.append(code.select(true, "i32", code.const("i32", one << 16 * half), code.const("i32", 0)))
    return code.binary("or", "i32", *found)


@op("selp", signature=lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)),) * 2 + ("i1",)))
def emit_selp(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return (code.select(s[2], ir_type(kind(ins)), s[0], s[1]),)


@op("slct", signature=lambda ins: ((ir_type(ins.opcode[-2]),), (ir_type(ins.opcode[-2]),) * 2 + ("i32",)))
def emit_slct(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    if kind(ins) == "f32":
        value = as_float(code, "f32", s[2])
        if "ftz" in ins.opcode:
            value = convert.flush(code, "float", value)
        test = code.compare("fcmp oge", "float", value, code.const("float", "0.0"))
    else:
        test = code.compare("icmp sge", "i32", s[2], code.const("i32", 0))
    return (code.select(test, ir_type(ins.opcode[-2]), s[0], s[1]),)
