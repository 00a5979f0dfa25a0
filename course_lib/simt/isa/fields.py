"""Less common instructions on bits and bytes: prmt, bmsk, szext, fns, dp4a, dp2a, and the packed video instructions.

Sources: the pseudo-code in "PTX ISA", Integer Arithmetic Instructions, Data Movement (prmt) and Video Instructions.
"""

from collections.abc import Sequence

from course_lib.simt.isa.bits import emit_lop3
from course_lib.simt.isa.protocols import Results, Writer
from course_lib.simt.isa.spelling import ORDER
from course_lib.simt.isa.table import op, same, signed
from course_lib.simt.ptx.ir import Instruction

FORMS = {
    "Integer arithmetic": (
        ("dp4a.(u32|s32).(u32|s32)", "d, a, b, c"), ("dp2a.(lo|hi).(u32|s32).(u32|s32)", "d, a, b, c"),
    ),
    "Logic, shifts, bits and bytes": (
        ("prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16]", "d, a, b, c"),
        ("bmsk.(clamp|wrap).b32", "d, a, b"), ("szext.(clamp|wrap).(u32|s32)", "d, a, b"), ("fns.b32", "d, a, b, c"),
    ),
    "Packed video instructions": (
        ("(vadd|vsub|vavrg|vabsdiff|vmin|vmax)(2|4).(u32|s32).(u32|s32).(u32|s32)[.sat|.add]", "d, a, b, c"),
        (f"vset(2|4).(u32|s32).(u32|s32).({ORDER})[.add]", "d, a, b, c"),
    ),
}

PERMUTATIONS = {  # mode -> the source byte of each byte of the result, for c = 0 … 3
    "f4e": lambda c: [(c + i) % 8 for i in range(4)], "b4e": lambda c: [(c - i) % 8 for i in range(4)],
    "rc8": lambda c: [c] * 4, "ecl": lambda c: [max(c, i) for i in range(4)], "ecr": lambda c: [min(c, i) for i in range(4)],
    "rc16": lambda c: [2 * (c & 1) + i % 2 for i in range(4)],
}


class _Words:
    """Shorthand for 32-bit lanes."""

    def __init__(self, code: Writer) -> None:
        self.code = code

    def const(self, value: int) -> str:
        return self.code.const("i32", value)

    def do(self, how: str, a: int | str, b: int | str) -> str:
        a, b = (self.const(v) if isinstance(v, int) else v for v in (a, b))
        return self.code.binary(how, "i32", a, b)

    def test(self, how: str, a: int | str, b: int | str) -> str:
        a, b = (self.const(v) if isinstance(v, int) else v for v in (a, b))
        return self.code.compare(f"icmp {how}", "i32", a, b)

    def choose(self, test: str, a: int | str, b: int | str) -> str:
        a, b = (self.const(v) if isinstance(v, int) else v for v in (a, b))
        return self.code.select(test, "i32", a, b)

    def field(self, value: str, start: int, bits: int, sign: bool) -> str:
        """Return `bits` bits of a word from bit `start`, extended by their sign or by zeros."""
        left = self.do("shl", value, 32 - bits - start) if start + bits < 32 else value
        return self.do("ashr" if sign else "lshr", left, 32 - bits)


def emit_permute(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    both = code.cast("zext", "i32", s[0], "i64")
    both = code.binary("or", "i64", both, code.binary("shl", "i64", code.cast("zext", "i32", s[1], "i64"), code.const("i64", 32)))
    w, result = _Words(code), ""
    which = w.do("and", s[2], 3)
    for c in range(4):
        value = ""
        for i, source in enumerate(PERMUTATIONS[ins.opcode[0][5:]](c)):
            byte = code.cast("trunc", "i64", code.binary("lshr", "i64", both, code.const("i64", 8 * source)), "i32")
            byte = w.do("shl", w.do("and", byte, 255), 8 * i)
            value = w.do("or", value, byte) if value else byte
        result = w.choose(w.test("eq", which, c), value, result) if result else value
    return (result,)


op(*(f"prmt.{mode}" for mode in PERMUTATIONS), signature=same(3))(emit_permute)


@op("lop3.or", "lop3.and", signature=lambda ins: (("i32", "i1"), ("i32",) * 3 + ("imm", "i1")))
def emit_lop3_test(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """The second result says whether the first is not zero, joined with a predicate."""
    value = emit_lop3(code, ins, s[:4])[0]
    return value, code.binary(ins.opcode[0][5:], "i1", _Words(code).test("ne", value, 0), s[4])


@op("bmsk", signature=same(2))
def emit_mask(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    w = _Words(code)
    a, b = (w.do("and", v, 31) for v in s)
    total = w.do("add", a, b)
    low = w.do("shl", -1, a)
    above = w.do("shl", -1, w.do("and", total, 31))
    beyond = w.test("ugt", total, 31)
    if "clamp" in ins.opcode:
        far = w.test("ugt", s[0], 31)
        low = w.choose(far, 0, low)
        beyond = code.binary("or", "i1", beyond, code.binary("or", "i1", far, w.test("ugt", s[1], 31)))
    above = w.choose(beyond, 0, above)
    return (w.do("and", low, w.do("xor", above, -1)),)


@op("szext", signature=same(2))
def emit_extend(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    w = _Words(code)
    n = w.do("and", s[1], 31)
    all_of_it = w.test("ugt", s[1], 31) if "clamp" in ins.opcode else code.const("i1", "false")
    unused = w.do("and", w.do("sub", 32, n), 31)
    extended = w.do("ashr" if signed(ins) else "lshr", w.do("shl", s[0], unused), unused)
    return (w.choose(all_of_it, s[0], w.choose(w.test("eq", n, 0), 0, extended)),)


@op("fns", signature=same(3))
def emit_find(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """The position of the n-th bit that is set, from `base` upwards (n > 0) or downwards (n < 0); n = 0 asks for `base` itself."""
    w = _Words(code)
    mask, base, n = s
    down = w.test("slt", n, 0)
    mask = w.choose(down, code.call("bitreverse", "i32", mask), mask)
    start = w.choose(down, w.do("sub", 31, base), base)
    inside = w.test("ult", base, 32)
    start = w.do("and", start, 31)
    mask = w.do("and", mask, w.do("shl", -1, start))
    before = w.do("sub", w.choose(down, w.do("sub", 0, n), w.choose(w.test("eq", n, 0), 1, n)), 1)
    found = w.const(-1)
    for i in reversed(range(32)):
        below = code.call("ctpop", "i32", w.do("and", mask, (1 << i) - 1))
        hit = code.binary("and", "i1", w.test("ne", w.do("and", mask, 1 << i), 0), w.test("eq", below, before))
        found = w.choose(hit, i, found)
    only = code.binary("and", "i1", w.test("eq", n, 0), w.test("ne", found, start))
    none = code.binary("or",
        "i1", w.test("eq", found, -1), code.binary("or", "i1", only, code.binary("xor", "i1", inside, code.const("i1", "true"))))
    return (w.choose(none, -1, w.choose(down, w.do("sub", 31, found), found)),)


@op("dp4a", "dp2a", signature=same(3))
def emit_dot(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """c plus the products of four bytes with four bytes, or of two halves with the lower or upper two bytes."""
    w, total = _Words(code), s[2]
    left, right = (t[0] == "s" for t in ins.opcode[-2:])
    four = ins.opcode[0] == "dp4a"
    for i in range(4 if four else 2):
        a = w.field(s[0], 8 * i if four else 16 * i, 8 if four else 16, left)
        b = w.field(s[1], 8 * i + (16 if "hi" in ins.opcode else 0), 8, right)
        total = w.do("add", total, w.do("mul", a, b))
    return (total,)


VIDEO = tuple(f"v{name}{n}" for name in ("add", "sub", "avrg", "absdiff", "min", "max", "set") for n in (2, 4))
COMPARES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def video_types(ins: Instruction) -> list[str]:
    """Return the three types of a packed video instruction (`vset` has two: its result is unsigned)."""
    types = [p for p in ins.opcode[1:] if p in ("s32", "u32")]
    return types if len(types) == 3 else ["u32", *types]


def emit_video(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """Two or four narrow operations on the parts of words; `.sat` limits each, `.add` adds all to the third source."""
    w, n = _Words(code), int(ins.opcode[0][-1])
    bits, name, (to, left, right) = 32 // n, ins.opcode[0][1:-1], video_types(ins)
    result = s[2] if "add" in ins.opcode else ""
    for i in range(n):
        a, b = w.field(s[0], bits * i, bits, left[0] == "s"), w.field(s[1], bits * i, bits, right[0] == "s")
        value = video_part(w, name, ins, a, b)
        if "sat" in ins.opcode:
            low, top = (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "s" else (0, (1 << bits) - 1)
            value = code.call("smax", "i32", code.call("smin", "i32", value, w.const(top)), w.const(low))
        if "add" in ins.opcode:
            result = w.do("add", result, value)
        else:
            value = w.do("shl", w.do("and", value, (1 << bits) - 1), bits * i)
            result = w.do("or", result, value) if result else value
    return (result,)


def video_part(w: _Words, name: str, ins: Instruction, a: str, b: str) -> str:
    if name in ("add", "sub"):
        return w.do(name, a, b)
    if name in ("min", "max"):
        return w.code.call("s" + name, "i32", a, b)
    if name == "absdiff":
        return w.do("sub", w.code.call("smax", "i32", a, b), w.code.call("smin", "i32", a, b))
    if name == "avrg":  # rounded away from zero at halves
        total = w.do("add", a, b)
        return w.do("ashr", w.do("add", total, w.choose(w.test("slt", total, 0), 0, 1)), 1)
    compare = next(p for p in ins.opcode if p in COMPARES)
    return w.code.cast("zext", "i1", w.test(compare if compare in ("eq", "ne") else "s" + compare, a, b), "i32")


op(*VIDEO, signature=same(3))(emit_video)
