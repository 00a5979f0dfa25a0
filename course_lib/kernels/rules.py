"""The rules that several kernels share: how many threads, how much shared memory, what must divide what, and why."""

import math
from collections.abc import Callable, Mapping, Sequence

from course_lib.kernels.parameters import (
    MAX_STATIC_SHARED,
    MAX_THREADS,
    Rule,
)

WHY_THREADS = "Every NVIDIA GPU since 2010 stops at 1024 threads per block"     # a sentence of its own: a fact, and no reason for it
WHY_SHARED = (
    "shared memory is the on-chip memory of one multiprocessor; arrays of fixed size may take 48 KiB of it, "
    "whatever the device has beyond that must be asked for at launch"
)

WHY_STEPS = "the loop runs over one tile: there are no more steps to write out than the tile has columns"
WHY_VECTORS = "a 128-bit load moves four floats that lie at a multiple of 16 bytes"
WHY_WARP = "a warp has 32 lanes on every NVIDIA GPU, and each computes TM × TN elements of the warp's tile"
WHY_WHOLE = "the threads of a block share its tile evenly: each computes the same number of elements"
WHY_SUMS = (
    "every element of C that a thread computes is a sum in a register of its own; beside the sums a thread needs registers for "
    "elements of A and B and for addresses, and what does not fit is moved to slow memory"
)


def threads_rule(x: str, y: str) -> Rule:
    """Return the rule that a block of x by y threads (names of parameters) fits."""

    def says(p):
        largest = MAX_THREADS // p[y]
        right = (f"with {y} = {p[y]}, {x} can be up to {largest}" if largest
                 else f"even with {x} = 1, {y} can be up to {MAX_THREADS}")
        return (f"{x} × {y} = {p[x]} × {p[y]} = {p[x] * p[y]} threads a block, "
                f"but at most {MAX_THREADS} are allowed: {right}")

    return Rule(f"{x} * {y} <= {MAX_THREADS}", WHY_THREADS, lambda p: p[x] * p[y] <= MAX_THREADS, says)


def divides_rule(tile: str, share: str) -> Rule:
    """Return the rule that a thread's share divides the tile's side.

    >>> divides_rule("BM", "TM").problem({"BM": 100, "TM": 8})
    'TM = 8 does not divide BM = 100: BM can be 96 or 104'
    """

    def says(p):
        below = p[tile] // p[share] * p[share]
        right = f"{below} or {below + p[share]}" if below else f"{p[share]}"
        return f"{share} = {p[share]} does not divide {tile} = {p[tile]}: {tile} can be {right}"

    return Rule(f"{tile} % {share} == 0", WHY_WHOLE, lambda p: p[tile] % p[share] == 0, says)


def at_most_rule(name: str, limit: str) -> Rule:
    """Return the rule that one parameter is at most another.

    >>> at_most_rule("UNROLL", "TILE").problem({"UNROLL": 16, "TILE": 8})
    'UNROLL = 16 is more than TILE = 8: UNROLL can be up to 8'
    """

    def says(p):
        return f"{name} = {p[name]} is more than {limit} = {p[limit]}: {name} can be up to {p[limit]}"

    return Rule(f"{name} <= {limit}", WHY_STEPS, lambda p: p[name] <= p[limit], says)


def shared_out_threads_rule(*sides: tuple[str, ...]) -> Rule:
    """Return the rule on the threads of a block that shares out its tile; a side is (tile, share), or (tile,) for one each.

    >>> shared_out_threads_rule(("BN",), ("BM", "TM")).problem({"BM": 64, "BN": 64, "TM": 2})
    'BN × BM/TM = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: take a larger TM or a smaller tile'
    """
    words = " × ".join("/".join(side) for side in sides)
    shares = " or ".join(side[1] for side in reversed(sides) if len(side) > 1)

    def counts(p):
        return [p[side[0]] // (p[side[1]] if len(side) > 1 else 1) for side in sides]

    def says(p):
        return (f"{words} = {' × '.join(map(str, counts(p)))} = {math.prod(counts(p))} threads a block, but at most {MAX_THREADS} are "
                f"allowed: take a larger {shares} or a smaller tile")

    return Rule(f"{words} <= {MAX_THREADS}", WHY_THREADS, lambda p: math.prod(counts(p)) <= MAX_THREADS, says)


def sums_rule(factors: Sequence[str], most: int, whose: str) -> Rule:
    """Return the rule that the product of these parameters, the sums of a thread or a block, is at most `most`.

    >>> sums_rule(("TM", "TN"), 128, "a thread").problem({"TM": 16, "TN": 16})
    'TM × TN = 16 × 16 = 256 sums for a thread, but at most 128 fit into its registers: with TM = 16, TN can be up to 8'
    """

    def says(p):
        values = [p[f] for f in factors]
        text = f"{' × '.join(factors)} = {' × '.join(map(str, values))}"
        text = text if len(values) == 1 else f"{text} = {math.prod(values)}"
        *fixed, last = factors
        largest = most // math.prod(values[:-1])
        given = " and ".join(f"{f} = {p[f]}" for f in fixed)
        right = (f"{last} can be up to {largest}" if not fixed else f"with {given}, {last} can be up to {largest}" if largest
                 else f"even with {last} = 1, {given} must come down")
        return f"{text} sums for {whose}, but at most {most} fit into its registers: {right}"

    return Rule(f"{' * '.join(factors)} <= {most}", WHY_SUMS, lambda p: math.prod(p[f] for f in factors) <= most, says)


def tiles_rule(rows: str, cols: str, depth: str) -> Rule:
    """Return the rule that a rows × depth and a depth × cols tile of float32 fit in static shared memory."""

    def size(p):
        return 4 * (p[rows] * p[depth] + p[depth] * p[cols])

    def says(p):
        largest = MAX_STATIC_SHARED // (4 * (p[rows] + p[cols]))
        right = (f"with {rows} = {p[rows]} and {cols} = {p[cols]}, {depth} can be up to {largest}" if largest
                 else f"{rows} + {cols} = {p[rows] + p[cols]} must first come down to {MAX_STATIC_SHARED // 4}")
        return (f"tiles of {p[rows]} × {p[depth]} and {p[depth]} × {p[cols]} floats take {size(p)} bytes, "
                f"but at most {MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: {right}")

    return Rule(f"4 * ({rows}*{depth} + {depth}*{cols}) <= {MAX_STATIC_SHARED}", WHY_SHARED,
                lambda p: size(p) <= MAX_STATIC_SHARED, says)


def square_rule(side: str, pad: str | None = None) -> Rule:
    """Return the rule that two side × side tiles, one with rows `pad` words longer, fit in static shared memory."""

    def size(p):
        return 4 * p[side] * (2 * p[side] + (p[pad] if pad else 0))

    def says(p):
        return (f"two tiles with {side} = {p[side]}" + (f" and {pad} = {p[pad]}" if pad else "") + f" take {size(p)} bytes, but at most "
                f"{MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: take a smaller {pad or side}")

    text = f"4 * {side} * (2*{side}" + (f" + {pad})" if pad else ")")
    return Rule(f"{text} <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def padded_tiles_rule(buffers: int) -> Rule:
    """Return the rule that `buffers` tiles of BK × (BM + 4) and BK × BN float32 fit in static shared memory.

    >>> padded_tiles_rule(2).problem({"BM": 256, "BN": 128, "BK": 16})
    '2 × BK × (BM + 4 + BN) = 2 × 16 × (256 + 4 + 128) floats take 49664 bytes, but at most 49152 (48 KiB) of shared memory \
are allowed: BK can be up to 15'
    """
    times = f"{buffers} × " if buffers > 1 else ""

    def size(p):
        return 4 * buffers * p["BK"] * (p["BM"] + 4 + p["BN"])

    def says(p):
        largest = MAX_STATIC_SHARED // (4 * buffers * (p["BM"] + 4 + p["BN"]))
        right = f"BK can be up to {largest}" if largest else "take a smaller BM or BN"
        return (f"{times}BK × (BM + 4 + BN) = {times}{p['BK']} × ({p['BM']} + 4 + {p['BN']}) floats take {size(p)} bytes, but at most "
                f"{MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: {right}")

    return Rule(f"4 * {buffers} * BK * (BM + 4 + BN) <= {MAX_STATIC_SHARED}", WHY_SHARED,
                lambda p: size(p) <= MAX_STATIC_SHARED, says)


def vectors_rule(*names: str) -> Rule:
    """Return the rule that these parameters are multiples of four floats."""

    def says(p):
        name = next(n for n in names if p[n] % 4)
        return f"{name} = {p[name]} is no multiple of 4: {name} can be {p[name] // 4 * 4 or 4} or {p[name] // 4 * 4 + 4}"

    return Rule(" and ".join(f"{n} % 4 == 0" for n in names), WHY_VECTORS, lambda p: all(p[n] % 4 == 0 for n in names), says)


def _warp_threads(p):
    """Threads of a block of warp tiles."""
    return 32 * (p["BM"] // p["WM"]) * (p["BN"] // p["WN"])


def warp_rule() -> Rule:
    """Return the rule that 32 threads of TM × TN elements cover a warp tile, in both directions.

    >>> warp_rule().problem({"WM": 64, "WN": 64, "TM": 8, "TN": 8})
    'WM/TM × WN/TN = 8 × 8 lanes, but a warp has 32: halve WM or WN, or double TM or TN'
    """

    def lanes(p):
        return p["WM"] / p["TM"], p["WN"] / p["TN"]

    def holds(p):
        rows, cols = lanes(p)
        return rows * cols == 32 and rows % 2 == 0 and cols % 2 == 0

    def says(p):
        rows, cols = lanes(p)
        change = ("halve WM or WN, or double TM or TN" if rows * cols > 32 else "double WM or WN, or halve TM or TN" if rows * cols < 32
                  else "both must be even, so that neighbouring lanes can share")
        return f"WM/TM × WN/TN = {rows:g} × {cols:g} lanes, but a warp has 32: {change}"

    return Rule("WM/TM * WN/TN == 32", WHY_WARP, holds, says)


def even_loads_rule(threads: Callable[[Mapping[str, int]], int] = _warp_threads, vector: int = 4) -> Rule:
    """Return the rule that all threads of a block load as many vectors of both tiles: four floats each, or eight bfloat16.

    `threads`: parameters -> how many there are.
    """

    def holds(p):
        return all(p[side] * p["BK"] % (vector * max(threads(p), 1)) == 0 for side in ("BM", "BN"))

    def says(p):
        return (f"tiles of {p['BM']} × {p['BK']} and {p['BK']} × {p['BN']} {'floats' if vector == 4 else 'bfloat16'} cannot be shared out "
                f"among {threads(p)} threads in vectors of {vector}: take a larger BK")

    return Rule(f"BM * BK and BK * BN % ({vector} * threads) == 0", WHY_WHOLE, holds, says)


def warps_rule() -> Rule:
    """Return the rule on the threads of a block that holds BM/WM × BN/WN warps."""

    def says(p):
        return (f"32 × BM/WM × BN/WN = {_warp_threads(p)} threads a block, but at most {MAX_THREADS} are allowed: take larger warp tiles "
                "or a smaller block tile")

    return Rule(f"32 * BM/WM * BN/WN <= {MAX_THREADS}", WHY_THREADS, lambda p: _warp_threads(p) <= MAX_THREADS, says)


def outputs_per_thread_rule(most: int) -> Rule:
    """Return the rule that the TA/by × TB/bx sums of a thread fit into its registers.

    >>> outputs_per_thread_rule(64).problem({"TA": 64, "TB": 64, "bx": 4, "by": 8})
    'TA/by × TB/bx = 8 × 16 = 128 sums for a thread, but at most 64 fit into its registers: take larger bx or by, or a smaller tile'
    """

    def counts(p):
        return p["TA"] // p["by"], p["TB"] // p["bx"]

    def says(p):
        rows, cols = counts(p)
        return (f"TA/by × TB/bx = {rows} × {cols} = {rows * cols} sums for a thread, but at most {most} fit into its registers: "
                "take larger bx or by, or a smaller tile")

    return Rule(f"TA/by * TB/bx <= {most}", WHY_SUMS, lambda p: math.prod(counts(p)) <= most, says)


def outputs_tiles_rule(item_bytes: int, pad: int = 0) -> Rule:
    """Return the rule that a TA × TW and a TW × TB tile of elements of `item_bytes` bytes fit in static shared memory.

    `pad`: elements behind each of the TW rows in which the tile of A is stored transposed.
    """
    beside = f" and {pad} elements behind each of TW rows" if pad else ""

    def size(p):
        return item_bytes * p["TW"] * (p["TA"] + pad + p["TB"])

    def says(p):
        largest = MAX_STATIC_SHARED // (item_bytes * (p["TA"] + pad + p["TB"]))
        right = f"TW can be up to {largest}" if largest else "take a smaller TA or TB"
        return (f"tiles of {p['TA']} × {p['TW']} and {p['TW']} × {p['TB']} elements of {item_bytes} bytes{beside} take {size(p)} bytes, "
                f"but at most {MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: {right}")

    text = f"TA + {pad} + TB" if pad else "TA + TB"
    return Rule(f"{item_bytes} * TW * ({text}) <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def outer_tile_rule(side: str) -> Rule:
    """Return the rule that a BK × (side + 1) tile of float32 fits in static shared memory."""

    def size(p):
        return 4 * p["BK"] * (p[side] + 1)

    def says(p):
        return (f"a tile of {p['BK']} × {p[side] + 1} floats takes {size(p)} bytes, but at most {MAX_STATIC_SHARED} (48 KiB) of shared "
                f"memory are allowed: take a smaller {side} or BK")

    return Rule(f"4 * BK * ({side} + 1) <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)
