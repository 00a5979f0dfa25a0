"""Less common integer instructions in plain Python: carry, bit masks, dot products, packed video instructions."""

import operator
from collections.abc import Sequence, Set

from course_lib.simt.model.types import clamp, cut, signed

BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
ORDERS = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1),
          "lo": (-1,), "ls": (-1, 0), "hi": (1,), "hs": (0, 1)}
VIDEO = [f"v{name}{n}" for name in ("add", "sub", "avrg", "absdiff", "min", "max", "set") for n in (2, 4)]


def lop3(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, b, c, table = args
    return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def lop3_test(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> tuple[int, int]:
    value = lop3(parts, flags, args[:4])
    return value, BITWISE[parts[1]](int(value != 0), args[4])


def mask(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """`bmsk`, bit by bit."""
    a, b = args
    if "clamp" in flags and a > 31:
        return 0
    a, b = a % 32, min(b, 32) if "clamp" in flags else b % 32
    return cut(((1 << b) - 1) << a, 32)


def sign_extend(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, n = args
    n = min(n, 32) if "clamp" in flags else n % 32
    return cut(signed(a & (1 << n) - 1, f"{parts[-1][0]}{n}"), 32) if n else 0


def find_nth(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """`fns` as the manual's loop."""
    bits, base, n = args[0], args[1], signed(args[2], "s32")
    if base > 31:
        return 0xFFFFFFFF
    if n == 0:
        return base if bits >> base & 1 else 0xFFFFFFFF
    order = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [i for i in order if bits >> i & 1]
    return found[abs(n) - 1] if len(found) >= abs(n) else 0xFFFFFFFF


def dot(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    a, b, total = args
    n = 4 if parts[0] == "dp4a" else 2
    for i in range(n):
        left = signed(a >> 32 // n * i, f"{parts[-2][0]}{32 // n}")
        total += left * signed(b >> 8 * i + (16 if "hi" in flags else 0), f"{parts[-1][0]}8")
    return cut(total, 32)


def video(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> int:
    """Packed video instructions; parts of the result are wide, `.sat` limits them, `.add` sums them up."""
    name, n = parts[0][1:-1], int(parts[0][-1])
    bits = 32 // n
    types = [p for p in parts if p in ("s32", "u32")]
    to, left, right = types if len(types) == 3 else ("u32", *types)
    values = []
    for i in range(n):
        a, b = signed(args[0] >> bits * i, f"{left[0]}{bits}"), signed(args[1] >> bits * i, f"{right[0]}{bits}")
        total = a + b
        value = {"add": total, "sub": a - b, "min": min(a, b), "max": max(a, b), "absdiff": abs(a - b),
                 "avrg": total + (total >= 0) >> 1,
                 "set": int((a > b) - (a < b) in ORDERS[next((p for p in parts if p in ORDERS), "eq")])}[name]
        values.append(clamp(value, f"{to[0]}{bits}") if "sat" in flags else value)
    if "add" in flags:
        return cut(args[2] + sum(values), 32)
    return sum(cut(v, bits) << bits * i for i, v in enumerate(values))
