"""What PTX instructions compute, in plain Python integers, from the text of NVIDIA's "PTX ISA" manual.

`evaluate("add.s32", (a, b))` takes the bits of the sources and returns a tuple with the bits of each result. A result
may also be NAN (any NaN of the type), a frozenset of allowed bits, or Halves of these.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from course_lib.simt.model import softfloat as sf
from course_lib.simt.model.bits import BITWISE, ORDERS, VIDEO, dot, find_nth, lop3, lop3_test, mask, sign_extend, video
from course_lib.simt.model.real import convert, real
from course_lib.simt.model.softfloat import FORMATS
from course_lib.simt.model.types import Halves, Result, Undefined, clamp, cut, signed, width


def evaluate(text: str, args: Sequence[int]) -> tuple[Result, ...]:
    """Return the tuple of results of one instruction for one thread.

    Raises
    ------
    Undefined
        An instruction that is not in the tables below.
    """
    parts = text.split(".")
    if parts[-1] == "relu":
        parts = [parts[0], "relu", *parts[1:-1]]
    name, kind, flags = parts[0], parts[-1], set(parts[1:])
    found: Result | tuple[Result, ...]
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


def integer(name: str, kind: str, flags: Set[str], args: Sequence[int]) -> int:
    """Arithmetic on one integer type; with .wide the result and an addend have twice its width."""
    if name not in INTEGER:
        raise Undefined(f"the model has no {name} of {kind}")
    kinds = [kind] * 2 + [f"{kind[0]}{width(kind) * 2}" if "wide" in flags else kind]
    value = INTEGER[name](kind, flags, *[signed(a, k) for a, k in zip(args, kinds)])
    bits = 32 if name in COUNTS else width(kinds[2])
    return cut(value, bits)


# -- integers ------------------------------------------------------------------------------------------------------------
def multiply(kind: str, flags: Set[str], a: int, b: int) -> int:
    return a * b >> (width(kind) if "hi" in flags else 0)


def multiply_add(kind: str, flags: Set[str], a: int, b: int, c: int) -> int:
    value = multiply(kind, flags, a, b) + c
    return clamp(value, kind) if "sat" in flags else value


def multiply24(kind: str, flags: Set[str], a: int, b: int, c: int = 0) -> int:
    form = kind[0] + "24"
    value = (signed(a, form) * signed(b, form) >> (16 if "hi" in flags else 0)) + c
    return clamp(value, kind) if "sat" in flags else value


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide(kind: str, flags: Set[str], a: int, b: int) -> int:
    """Division by zero gives all ones here; the manual leaves it open."""
    return -1 if b == 0 else quotient(a, b)


def remainder(kind: str, flags: Set[str], a: int, b: int) -> int:
    return a if b == 0 else a - b * quotient(a, b)


def saturating(how: Callable[[int, int], int]) -> Callable[..., int]:
    return lambda kind, flags, a, b: clamp(how(a, b), kind) if "sat" in flags else how(a, b)


def relu(how: Callable[[Iterable[int]], int]) -> Callable[..., int]:
    return lambda kind, flags, *v: max(how(v), 0) if "relu" in flags else how(v)


COUNTS = ("popc", "clz")
INTEGER: Mapping[str, Callable[..., int]] = {
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


def shift(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, n = signed(args[0], parts[-1]), args[1]
    n = min(n, 200)  # far beyond the width, and cheap
    return cut(a << n if parts[0] == "shl" else a >> n, width(parts[-1]))


def funnel(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, b, n = args
    n = min(n, 32) if "clamp" in flags else n % 32
    both = b << 32 | a
    return cut(both << n >> 32 if "l" in flags else both >> n, 32)


def find(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """`bfind`: the highest bit that differs from the sign."""
    a = signed(args[0], parts[-1])
    top = (~a if a < 0 else a).bit_length() - 1
    if top < 0:
        return 0xFFFFFFFF
    return width(parts[-1]) - 1 - top if "shiftamt" in flags else top


def extract(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    kind, (a, start, length) = parts[-1], args
    start, length, top = start & 255, length & 255, width(parts[-1]) - 1
    fill = a >> min(start + length - 1, top) & 1 if kind[0] == "s" and length else 0
    return sum((a >> (start + i) & 1 if i < length and start + i <= top else fill) << i for i in range(top + 1))


def insert(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    value, under, start, length = args
    start, length = start & 255, length & 255
    for i in range(min(length, max(width(parts[-1]) - start, 0))):
        under = under & ~(1 << (start + i)) | (value >> i & 1) << (start + i)
    return under


PERMUTATIONS = {
    "f4e": lambda c, i: (c + i) % 8, "b4e": lambda c, i: (c - i) % 8, "rc8": lambda c, i: c,
    "ecl": lambda c, i: max(c, i), "ecr": lambda c, i: min(c, i), "rc16": lambda c, i: (2 * c & 2) + i % 2,
}


def permute(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, b, c = args
    source = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    mode = next((part for part in parts if part in PERMUTATIONS), None)
    if mode:
        return sum(source[PERMUTATIONS[mode](c & 3, i)] << 8 * i for i in range(4))
    found = 0
    for i in range(4):
        choice = c >> 4 * i & 15
        byte = source[choice & 7]
        found |= (255 * (byte >> 7) if choice & 8 else byte) << 8 * i
    return found


def halves(text: str, args: Sequence[int]) -> Halves:
    """Two numbers of 16 bits in one register."""
    low, high = (evaluate(text[:-2], [a >> s & 0xFFFF for a in args])[0] for s in (0, 16))
    return Halves((low, high))


# -- comparisons and choices --------------------------------------------------------------------------------------------


def relation(how: str, kind: str, flags: Set[str], a: int, b: int) -> bool:
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


def set_predicate(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> tuple[int, ...]:
    if parts[-1].endswith("x2"):
        kinds = [*parts[:-1], parts[-1][:-2]]
        return tuple(set_predicate(kinds, flags, [*(a >> s & 0xFFFF for a in args[:2]), *args[2:]])[0] for s in (0, 16))
    true = relation(parts[1], parts[-1], flags, *args[:2])
    joins = [p for p in parts[2:-1] if p in BITWISE]
    both = [int(true), int(not true)]
    return tuple(BITWISE[joins[0]](v, args[2]) if joins else v for v in both)


def set_value(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> Result:
    if parts[-1].endswith("x2"):
        one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(parts[-2], 0xFFFF)
        return Halves(one if true else 0 for true in set_predicate(parts, flags, args))
    true = set_predicate(parts, flags, args)[0]
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(parts[-2], (1 << width(parts[-2])) - 1)
    return one if true else 0


def select_sign(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, b, c = args
    if parts[-1] == "f32":
        c = sf.flush("f32", c) if "ftz" in flags else c
        return a if sf.compare("f32", c, 0) in (0, 1) else b
    return a if signed(c, "s32") >= 0 else b


def test_property(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    kind, a = parts[-1], args[0]
    nan, number = sf.is_nan(kind, a), sf.unpack(kind, a)
    infinite = number is not sf.NAN and number[1] is sf.INF
    small = sf.subnormal(kind, a)
    return int({"finite": not nan and not infinite, "infinite": infinite, "number": not nan, "notanumber": nan,
                "normal": not nan and not infinite and not small, "subnormal": small}[parts[1]])


# -- moves -------------------------------------------------------------------------------------------------------------
def move(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """One register to one, or a vector packed into one; the form says when a register is unpacked."""
    bits = width(parts[-1]) // len(args)
    return sum(cut(a, bits) << i * bits for i, a in enumerate(args))


def copysign(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    top = 1 << (FORMATS[parts[-1]].width - 1)
    return args[0] & top | args[1] & ~top


def map_address(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """Put the rank of another block into an address of shared memory; a generic address has it in the same bits."""
    return args[0] & ~(0xFF << 24 if "shared__cluster" in flags else 0xF << 24) | (args[1] & 0xFF) << 24


def rank_of(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """Return the rank that an address of shared memory has."""
    return args[0] >> 24 & (0xFF if "shared__cluster" in flags else 0xF)


SPECIAL: Mapping[str, Callable[[Sequence[str], Set[str], Sequence[int]], Result | tuple[Result, ...]]] = {
    "mapa": map_address, "getctarank": rank_of, "bmsk": mask, "szext": sign_extend, "fns": find_nth, "dp4a": dot, "dp2a": dot,
    **dict.fromkeys(VIDEO, video),
    "shl": shift, "shr": shift, "shf": funnel, "lop3": lop3, "bfind": find, "bfe": extract, "bfi": insert, "prmt": permute,
    "setp": set_predicate, "set": set_value, "slct": select_sign, "testp": test_property, "cvt": convert, "mov": move,
    "copysign": copysign, "selp": lambda parts, flags, args: args[0] if args[2] else args[1],
}
