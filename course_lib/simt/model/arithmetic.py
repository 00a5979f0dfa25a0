"""What PTX instructions compute, in plain Python integers, from the text of NVIDIA's "PTX ISA" manual.

`evaluate("add.s32", (a, b))` takes the bits of the sources and returns a tuple with the bits of each result. A result
may also be NAN (any NaN of the type), ANY (the manual leaves it open) or a frozenset of allowed bits.
"""

import operator

from course_lib.simt.model import softfloat as sf
from course_lib.simt.model.bits import BITWISE, ORDERS, VIDEO, dot, find_nth, lop3, lop3_test, mask, sign_extend, video
from course_lib.simt.model.real import convert, real
from course_lib.simt.model.softfloat import FORMATS
from course_lib.simt.model.types import Pair, clamp, cut, signed, width


def evaluate(text, args):
    """Return the tuple of results of one instruction for one thread."""
    parts = text.split(".")
    if parts[-1] == "relu":
        parts = [parts[0], "relu", *parts[1:-1]]
    name, kind, flags = parts[0], parts[-1], set(parts[1:])
    if name == "lop3" and parts[1] in BITWISE:
        found = lop3_test(parts, flags, args)
    elif name in SPECIAL:
        found = SPECIAL[name](parts, flags, args)
    elif kind.endswith("x2"):
        found = halves(".".join(parts), args)
    elif kind in FORMATS:
        found = real(name, kind, flags, args)
    else:
        found = integer(name, kind, flags, args)
    return found if isinstance(found, tuple) else (found,)


def integer(name, kind, flags, args):
    """Arithmetic on one integer type; with .wide the result and an addend have twice its width."""
    kinds = [kind] * 2 + [f"{kind[0]}{width(kind) * 2}" if "wide" in flags else kind]
    value = INTEGER[name](kind, flags, *[signed(a, k) for a, k in zip(args, kinds)])
    bits = 32 if name in COUNTS else width(kinds[2])
    return cut(value, bits)


# -- integers ------------------------------------------------------------------------------------------------------------
def multiply(kind, flags, a, b):
    return a * b >> (width(kind) if "hi" in flags else 0)


def multiply_add(kind, flags, a, b, c):
    value = multiply(kind, flags, a, b) + c
    return clamp(value, kind) if "sat" in flags else value


def multiply24(kind, flags, a, b, c=0):
    form = kind[0] + "24"
    value = (signed(a, form) * signed(b, form) >> (16 if "hi" in flags else 0)) + c
    return clamp(value, kind) if "sat" in flags else value


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide(kind, flags, a, b):
    """Division by zero gives all ones here; the manual leaves it open."""
    return -1 if b == 0 else quotient(a, b)


def remainder(kind, flags, a, b):
    return a if b == 0 else a - b * quotient(a, b)


def saturating(how):
    return lambda kind, flags, a, b: clamp(how(a, b), kind) if "sat" in flags else how(a, b)


def relu(how):
    return lambda kind, flags, *v: max(how(v), 0) if "relu" in flags else how(v)


COUNTS = ("popc", "clz")
INTEGER = {
    "add": saturating(operator.add), "sub": saturating(operator.sub),
    "mul": multiply, "mad": multiply_add, "mul24": multiply24, "mad24": multiply24,
    "div": divide, "rem": remainder, "min": relu(min), "max": relu(max),
    "abs": lambda kind, flags, a: abs(a), "neg": lambda kind, flags, a: -a,
    "sad": lambda kind, flags, a, b, c: abs(a - b) + c,
    "not": lambda kind, flags, a: ~a, "cnot": lambda kind, flags, a: int(a == 0),
    **{name: (lambda kind, flags, a, b, how=how: how(a, b)) for name, how in BITWISE.items()},
    "popc": lambda kind, flags, a: bin(a).count("1"),
    "clz": lambda kind, flags, a: width(kind) - a.bit_length(),
    "brev": lambda kind, flags, a: int(f"{a:0{width(kind)}b}"[::-1], 2),
}


def shift(parts, flags, args):
    a, n = signed(args[0], parts[-1]), args[1]
    n = min(n, 200)  # far beyond the width, and cheap
    return cut(a << n if parts[0] == "shl" else a >> n, width(parts[-1]))


def funnel(parts, flags, args):
    a, b, n = args
    n = min(n, 32) if "clamp" in flags else n % 32
    both = b << 32 | a
    return cut(both << n >> 32 if "l" in flags else both >> n, 32)


def find(parts, flags, args):
    """`bfind`: the highest bit that differs from the sign."""
    a = signed(args[0], parts[-1])
    top = (~a if a < 0 else a).bit_length() - 1
    if top < 0:
        return 0xFFFFFFFF
    return width(parts[-1]) - 1 - top if "shiftamt" in flags else top


def extract(parts, flags, args):
    kind, (a, start, length) = parts[-1], args
    start, length, top = start & 255, length & 255, width(parts[-1]) - 1
    fill = a >> min(start + length - 1, top) & 1 if kind[0] == "s" and length else 0
    return sum((a >> (start + i) & 1 if i < length and start + i <= top else fill) << i for i in range(top + 1))


def insert(parts, flags, args):
    value, under, start, length = args
    start, length = start & 255, length & 255
    for i in range(min(length, max(width(parts[-1]) - start, 0))):
        under = under & ~(1 << (start + i)) | (value >> i & 1) << (start + i)
    return under


PERMUTATIONS = {
    "f4e": lambda c, i: (c + i) % 8, "b4e": lambda c, i: (c - i) % 8, "rc8": lambda c, i: c,
    "ecl": lambda c, i: max(c, i), "ecr": lambda c, i: min(c, i), "rc16": lambda c, i: (2 * c & 2) + i % 2,
}


def permute(parts, flags, args):
    a, b, c = args
    source = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    if len(parts) > 2:
        return sum(source[PERMUTATIONS[parts[2]](c & 3, i)] << 8 * i for i in range(4))
    found = 0
    for i in range(4):
        choice = c >> 4 * i & 15
        byte = source[choice & 7]
        found |= (255 * (byte >> 7) if choice & 8 else byte) << 8 * i
    return found


def halves(text, args):
    """Two numbers of 16 bits in one register."""
    low, high = (evaluate(text[:-2], [a >> s & 0xFFFF for a in args])[0] for s in (0, 16))
    return Pair((low, high))


# -- comparisons and choices --------------------------------------------------------------------------------------------


def relation(how, kind, flags, a, b):
    if kind in FORMATS:
        if "ftz" in flags:
            a, b = sf.flush(kind, a), sf.flush(kind, b)
        order = sf.compare(kind, a, b)
        if how in ("num", "nan"):
            return (order is None) == (how == "nan")
        if order is None:
            return how.endswith("u")
        return order in ORDERS[how[:2]]
    if how in ("lo", "ls", "hi", "hs"):
        kind = "u" + kind[1:]
    a, b = signed(a, kind), signed(b, kind)
    return (a > b) - (a < b) in ORDERS[how]


def set_predicate(parts, flags, args):
    if parts[-1].endswith("x2"):
        kinds = [*parts[:-1], parts[-1][:-2]]
        return tuple(set_predicate(kinds, flags, [a >> s & 0xFFFF for a in args[:2]] + args[2:])[0] for s in (0, 16))
    true = relation(parts[1], parts[-1], flags, *args[:2])
    joins = [p for p in parts[2:-1] if p in BITWISE]
    both = [int(true), int(not true)]
    return tuple(BITWISE[joins[0]](v, args[2]) if joins else v for v in both)


def set_value(parts, flags, args):
    if parts[-1].endswith("x2"):
        one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(parts[-2], 0xFFFF)
        return Pair(one if true else 0 for true in set_predicate(parts, flags, args))
    true = set_predicate(parts, flags, args)[0]
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(parts[-2], (1 << width(parts[-2])) - 1)
    return one if true else 0


def select_sign(parts, flags, args):
    a, b, c = args
    if parts[-1] == "f32":
        c = sf.flush("f32", c) if "ftz" in flags else c
        return a if sf.compare("f32", c, 0) in (0, 1) else b
    return a if signed(c, "s32") >= 0 else b


def test_property(parts, flags, args):
    kind, a = parts[-1], args[0]
    nan, number = sf.is_nan(kind, a), sf.unpack(kind, a)
    infinite = not nan and number[1] == sf.INF
    small = sf.subnormal(kind, a)
    return int({"finite": not nan and not infinite, "infinite": infinite, "number": not nan, "notanumber": nan,
                "normal": not nan and not infinite and not small, "subnormal": small}[parts[1]])


# -- moves -------------------------------------------------------------------------------------------------------------
def move(parts, flags, args):
    """One register to one, or a vector packed into one; the form says when a register is unpacked."""
    bits = width(parts[-1]) // len(args)
    return sum(cut(a, bits) << i * bits for i, a in enumerate(args))


def copysign(parts, flags, args):
    top = 1 << (FORMATS[parts[-1]].width - 1)
    return args[0] & top | args[1] & ~top


SPECIAL = {
    "bmsk": mask, "szext": sign_extend, "fns": find_nth, "dp4a": dot, "dp2a": dot,
    **dict.fromkeys(VIDEO, video),
    "shl": shift, "shr": shift, "shf": funnel, "lop3": lop3, "bfind": find, "bfe": extract, "bfi": insert, "prmt": permute,
    "setp": set_predicate, "set": set_value, "slct": select_sign, "testp": test_property, "cvt": convert, "mov": move,
    "copysign": copysign, "selp": lambda parts, flags, args: args[0] if args[2] else args[1],
}
