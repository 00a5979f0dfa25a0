"""Lanes of a warp that diverge and reconverge: in conditions, cases, returns, calls. And which counters are called the hardware's.

These kernels ask whether what `report.level` calls the hardware's is so; the assembler decides where lanes wait for each other.
"""

import functools

import numpy as np

from hardware_catalog.cases import case, whole

INT = np.int32
EVERY = ("requests ld", "requests st", "sectors ld", "sectors st", "shared ld", "shared st", "wavefronts ld", "wavefronts st")
SHARED = EVERY[4:]
# Kernel -> those counters that the report calls "PTX level"; all others are called the hardware's.
PTX_LEVEL = {
    "scan_sweeps": SHARED,                    # the assembler joins loads in copies of the loops
    "sort_insertion": EVERY, "loop_own_length": EVERY,                     # lanes leave a loop one after another
    "switch_through": EVERY,                  # cases meet without waiting
    "switch_dense": EVERY,                    # jumps by tables whose targets the text of the machine code does not tell
    "call_table": EVERY, "call_virtual": EVERY, "call_some": EVERY,        # lanes call different functions, or return singly
    "copy_chunk": ("sectors ld", *SHARED),    # asynchronous copies
}


def rule(size):
    """Register a kernel of 128 threads that read `x` and write into `y`, `size` numbers: `function(x, i, y)` does what thread i does."""
    def register(function):
        @functools.wraps(function)
        def make(rng):
            x, y = whole(rng, 0, 1000, 600), np.zeros(size, INT)
            want, numbers = y.copy(), list(map(int, x))
            for i in range(128):
                function(numbers, i, want)
            return [x, y], {1: want}
        return case(2, 64)(make)
    return register


def sums(rng, block):
    """Return the arguments and the sums of four blocks."""
    x = whole(rng, -1000, 1000, 4 * block)
    return [x, np.zeros(4, INT)], {1: x.reshape(4, block).sum(1)}


@case(4, 128)
def reduce_modulo(rng):
    return sums(rng, 128)


@case(4, 96, dynamic_shared=384)
def reduce_any_block(rng):
    return sums(rng, 96)


@case(4, 256)
def reduce_pairs(rng):
    return sums(rng, 256)


@case(3, 64)
def scan_in_place(rng):
    x = whole(rng, -1000, 1000, 192)
    return [x, np.zeros(192, INT)], {1: x.reshape(3, 64).cumsum(1).ravel()}


@case(3, 32)
def scan_sweeps(rng):
    x = whole(rng, -1000, 1000, 192)
    rows = x.reshape(3, 64)
    return [x, np.zeros(192, INT)], {1: (rows.cumsum(1) - rows).ravel()}


@case(2, 64)
def sort_odd_even(rng):
    x = whole(rng, -1000, 1000, 128)
    return [x, np.zeros(128, INT)], {1: np.sort(x.reshape(2, 64), axis=1).ravel()}


@case(2, 64)
def sort_steps(rng):
    x = whole(rng, -1000, 1000, 128)
    want = x.copy()
    for i in range(128):
        other = i ^ 8
        if other > i and (x[i] > x[other]) == (i & 16 == 0):
            want[[i, other]] = x[[other, i]]
    return [x, np.zeros(128, INT)], {1: want}


@case(2, 32)
def sort_insertion(rng):
    x = whole(rng, -1000, 1000, 512)
    return [x, np.zeros(512, INT)], {1: np.sort(x.reshape(64, 8), axis=1).ravel()}


@case(3, 128)
def copy_chunk(rng):
    x = whole(rng, -1000, 1000, 3 * 2048)
    return [x, np.zeros(3 * 2048, INT)], {1: 2 * x}


@rule(256)
def switch_through(x, i, y):
    kind, r = x[i] % 6, 0
    if kind < 3:
        r += x[i + 1] if kind == 0 else 0
        r += 3 * x[i + 2] if kind < 2 else 0
        r ^= x[i + 3]
    elif kind < 5:
        r = x[2 * i] if kind == 3 else 0
        y[i + 128] = r + x[i + 4]
    else:
        r = 7
    y[i] = r


@rule(13 * 128)
def switch_dense(x, i, y):
    kind = x[i] % 12
    v = x[i + 1 + kind]
    y[i + 128 * (1 + kind)] = (v, v * 3, v - 5, v ^ 5, v & 6, v | 9, v + 4, v * 5, v - 8, v ^ 3, v & 7, v | 2)[kind]
    y[i] = (i + 1, i * 2, i - 7, i ^ 9, i | 5, i + 11, i * 13, i - 1, i ^ 15, i | 8, i + 21, i * 3)[kind]


@rule(256)
def call_table(x, i, y):
    y[i] = (x[i] + i, x[i] - i, x[i] * i)[x[i] % 3]
    y[i + 128] = 2 * y[i]


@rule(128)
def call_one(x, i, y):
    y[i] = (x[i] + i, x[i] - i, x[i] * i)[x[i // 32] % 3]


@rule(128)
def call_virtual(x, i, y):
    y[i] = 2 * x[i] + 1 if x[i] % 2 else x[i]**2


@rule(128)
def call_some(x, i, y):
    more = x[i + 1] + (0 if x[i] > x[i + 1] else x[i + 2])
    y[i] = x[i] + more if x[i] % 2 else x[i]


@rule(384)
def return_early(x, i, y):
    for step in range(x[i] % 4):
        y[i + 128 * step] = x[i + 1 + step]


@rule(512)
def return_inside(x, i, y):
    if x[i] % 2:
        y[i + 128] = x[i + 1]
        if x[i + 1] % 3 == 0:
            return
        y[i + 256] = x[i + 2]
    else:
        y[i + 384] = x[i + 3]
    y[i] = x[i + 4] + 1


@rule(128)
def break_loop(x, i, y):
    y[i] = next((k for k in range(20) if x[i + k] % 7 == 0), 20)


@rule(128)
def continue_loop(x, i, y):
    y[i] = sum(v * x[v % 64] for v in x[i:i + 12] if v % 2)


@rule(128)
def loop_own_length(x, i, y):
    y[i] = sum(x[i:i + x[i] % 9 + 1]) + x[i + 1]


@rule(128)
def and_short(x, i, y):
    if x[i] % 2 and x[x[i] % 64] % 3 == 0:
        y[i] = x[i + 1]


@rule(128)
def or_short(x, i, y):
    if x[i] % 2 or x[x[i] % 64] % 3 == 0:
        y[i] = x[i + 1] + x[i + 2]


@rule(256)
def choose_loads(x, i, y):
    y[i] = x[i + 1] if x[i] % 2 else x[2 * i]
    y[i + 128] = (x[i + 3], x[3 * i], x[i])[x[i] % 3]


@rule(512)
def goto_over(x, i, y):
    jumps = False
    if x[i] % 3 == 0:
        y[i + 128] = x[i + 1]
        jumps = x[i + 1] % 2
        if not jumps:
            y[i + 256] = x[i + 2]
    if not jumps:
        y[i] = x[i + 3]
    y[i + 384] = x[i + 4]


@rule(896)
def nested_ifs(x, i, y):
    v = x[i]
    if v & 1:
        y[i] = x[i + 1]
        if v & 2:
            y[i + 128] = x[i + 2]
            if v & 4:
                y[i + 256] = x[i + 3]
            else:
                y[i + 384] = x[i + 4]
            y[i + 512] = x[i + 5]
        y[i + 640] = x[i + 6]
    y[i + 768] = x[i + 7]


@rule(128)
def store_alike(x, i, y):
    y[i] = x[i + 1] + x[i]**2 if x[i] % 2 else x[2 * i] - 1
