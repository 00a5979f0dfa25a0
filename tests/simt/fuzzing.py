"""Broken launches without end: random arguments, grids and options, damaged CUDA and PTX, wrong operands. A seed makes them again.

    python fuzzing.py KIND SEED COUNT     prints {"ran": …, "raised": …, "kinds": {…}}; exit status 1 names what had no type
"""

import json
import random
import re
import sys
import traceback
from collections import Counter

import coverage_examples
import numpy as np
from test_ptx_broken import mutations

from course_lib import simt, toolchain
from course_lib.simt.isa import coverage

ADD = """extern "C" __global__ void f(const float* a, float* b, int n, double x) {
    __shared__ float s[64];
    extern __shared__ float d[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x & 63] = a[i];
    __syncthreads();
    if (i < n) b[i] = s[(threadIdx.x + 1) & 63] + x + (n == 7 ? d[threadIdx.x] : 0.f);
}"""
VICTIMS = (ADD, """#include <cuda_fp16.h>
template <int W> struct Pair { float v[W]; __device__ float sum() const { float s = 0; for (int i = 0; i < W; ++i) s += v[i]; return s; } };
__constant__ int table[4] = {1, 2, 3, 4};
__device__ __noinline__ int twice(int x) { return x < 3 ? x : twice(x / 2) + table[x & 3]; }
extern "C" __global__ void f(const float* a, float* b, int n, double x) {
    Pair<3> p{{1.f, x > 0 ? 2.f : a[0], 3.f}};
    float local[8];
    for (int i = 0; i < 8; ++i) local[i] = i * p.sum();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int lane = __shfl_down_sync(0xffffffff, i, 1);
        if (__any_sync(__activemask(), lane > 5)) atomicAdd(&b[i & 7], local[twice(i) & 7]);
        b[i] += __half2float(__float2half(a[i])) * sqrtf(fabsf(x)) + (i % 3 == 0 ? __popc(i) : __ldg(a + i));
    }
}""")


def arrays(rng):
    """Return an array of any kind, shape, order and alignment."""
    n = rng.choice((0, 1, 7, 64, 64, 64, 300))
    kind = rng.choice(("f4", "f4", "f4", "f8", "i1", "u2", "i4", ">f4", "c8", "O", "U3", "S5", "M8[s]", "f2", "?"))
    a = np.zeros(n, kind)
    how = rng.randrange(8)
    if how == 0:
        a = a[::-1]
    elif how == 1:
        a = a[::2]
    elif how == 2:
        a = a.reshape(1, -1).T
    elif how == 3:
        a.flags.writeable = False
    elif how == 4 and n > 7 and a.dtype.kind not in "OUM":
        a = np.frombuffer(bytearray(n * a.itemsize + 1), np.uint8)[1:].view(a.dtype)
    elif how == 5 and n:
        a = np.broadcast_to(a[:1], (5, 3))
    return a


SCALARS = (np.int32(64), np.int32(-1), np.int32(7), np.int64(3), np.float32(2), np.float64(2), np.float64("nan"), np.uint64(1 << 63),
           np.bool_(True), np.float16(1), np.str_("abcd"), np.bytes_(b"abcd"), 3, 2.5, None, "text", b"12345678", [1], (), {}, object(),
           np.complex64(1), np.zeros((), "i4"), 1 << 100, np.void(b"12345678"), True)
SIZES = (1, 1, 1, 2, 3, 32, 33, 64, 1024, 0, -1, 1025, 2**31, 2**40, 10**30, 1.5, None, "2", True, np.int8(3), np.float32(1))


def triple(rng):
    return rng.choice((rng.choice(SIZES[:8]), rng.choice(SIZES), tuple(rng.choice(SIZES) for _ in range(rng.randrange(5))),
                       [rng.choice(SIZES[:5]) for _ in range(3)], np.array([1, 2])))


def arguments(rng, base):
    """Return four arguments, most of them such as the kernel wants."""
    right = [np.zeros(64, np.float32), np.zeros(64, np.float32), np.int32(64), np.float64(2)]
    args = [right[i] if rng.random() < 0.85 else rng.choice((arrays(rng), rng.choice(SCALARS))) for i in range(4)]
    if rng.random() < 0.1:
        args[1] = args[0]
    if rng.random() < 0.05:
        args = rng.choice((args[:3], [*args, 1], None, 3, "abcd", np.zeros(4)))
    return base(args) if isinstance(args, list) and rng.random() < 0.3 else args


OPTIONS = {
    "defines": ({"X": 1}, {"n": "1"}, {"f": "g"}, {"X": object()}, {3: 3}, 3, "a", {"X Y": 1}, {"X": "\n#error"}, {"": 1}),
    "dynamic_shared": (0, 256, 1024, 232448, -1, 1.5, None, "1", 2**40), "constants": (None, {}, {"table": np.arange(4)}, {"x": 1}, 3, []),
    "racecheck": (True, False, 1, None), "max_steps": (1, 100, 10**4, 0, -5, 2**80, "1", 1.5),
    "warp_order": ("forward", "reverse", "interleaved", 0, 5, -1, "x", None, 2**70, 1.5), "workers": (1, 2, 3, 1000, 0, -1, "1"),
    "arch": ("sm_90", "sm_80", "compute_90", "sm_12", "", None, 90), "options": ((), ("-G",), ("--fmad=false",), "x", None, (1,), ("-",)),
    "trace": ((), [(0, 0)], [((0, 0, 0), 0)], [(5, 5)], [3], 3, None, [("a", 0)], [(0, -1)]),
    "progress": (None, print, 3, lambda done, total: None),
}


def launches(rng):
    """Yield (source, entry, grid, block, args, options)."""
    while True:
        how = {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.12}
        how.setdefault("max_steps", 3000)
        grid, block = (triple(rng) if rng.random() < 0.25 else rng.choice((1, 2, (2, 2))) for _ in range(2))
        yield rng.choice(VICTIMS), rng.choice(("f",) * 20 + ("g", "", None)), grid, block, arguments(rng, rng.choice((tuple, iter))), how


def damaged(texts, entry):
    """Return a generator of launches of damaged texts with arguments that are right."""
    def generate(rng):
        sources = [mutations(text, rng) for text in texts]
        while True:
            args = [np.zeros(64, np.float32), np.zeros(64, np.float32), np.int32(64), np.float64(2)]
            how = {"max_steps": 3000, "racecheck": rng.random() < 0.3, "workers": rng.choice((1, 2)),
                   "warp_order": rng.choice(("forward", "interleaved", 3)), "trace": [(0, 0)] if rng.random() < 0.1 else ()}
            yield next(rng.choice(sources)), entry, rng.choice((1, 3)), rng.choice((64, 40, (8, 5))), args, how
    return generate


WRONG = ("_", "%r11", "%d17", "%h11", "%p1", "!%p1", "%q2", "5", "-1", "1.5", "{%r1, %r2}", "{_, _}", "{1, 2}", "{}", "[%d11]", "[%r11]",
         "[_]", "[5]", "[given]", "[tile+4]", "[%d11+99999999999999999999]", "tile", "given", "callee", "nope", "%nope1", "%tid.x",
         "%clock64", "%laneid|%p1", "0x1ffffffffff", "0f3F800000", "%r11, %r11", "")


def operands(rng):
    """Yield launches of every form that the simulator knows with one of its operands replaced, doubled or left out."""
    rows = [row for section in coverage.SECTIONS.values() for row in section]
    while True:
        pattern, written = rng.choice(rows)
        text = coverage_examples.instructions(next(iter(coverage_examples.sample(pattern, rng, tries=1))), written)
        places = [m.span() for m in re.finditer(r"\{[^}]*\}|\[[^\]]*\]|(?<= )[^,\s{}\[\];]+(?=[,;])", text)]
        at, end = rng.choice(places or [(0, 0)])
        body = f".loc 1 1 0\n{text[:at]}{rng.choice(WRONG)}{text[end:]}\nexit;\n}}\n.file 1 \"forms\"\n"
        args = coverage_examples.arguments()
        yield coverage_examples.TEXT + body, "k", 1, 32, args, {"max_steps": 3000, "workers": 1, "racecheck": rng.random() < 0.3}


def kinds():
    ptx = [toolchain.compile_cuda(text).ptx for text in VICTIMS]
    return {"launcher": launches, "cuda": damaged(VICTIMS, "f"), "ptx": damaged(ptx, "f"), "operands": operands}


def main(kind, seed, count):
    """Make `count` launches; every one runs, or raises an error of the simulator's own types."""
    rng, raised, ran, wrong = random.Random(seed), Counter(), 0, []
    for number, (source, entry, grid, block, args, how) in zip(range(count), kinds()[kind](rng)):
        try:
            simt.launch(source, entry, grid, block, args, **how)
            ran += 1
        except simt.SimtError as error:
            raised[type(error).__name__] += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            wrong.append(f"{number}: {type(error).__name__} {error} at {where}; grid={grid!r} block={block!r} {how!r}"[:400])
    print(json.dumps({"ran": ran, "raised": sum(raised.values()), "kinds": raised}))
    if wrong:
        print(f"seed {seed}", *dict.fromkeys(wrong), sep="\n", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
