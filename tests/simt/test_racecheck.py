"""The search for hazards in uniform code finds what the search thread by thread finds: kinds, lines, examples and counts."""

import random

import numpy as np
import pytest

from course_lib import kernels, simt

SIZE = 256
PLACES = ("i", "i", "i ^ 1", "i + 32", f"{SIZE - 1} - i", "i / 2", "i / 32 * 32", "2 * i", "i % 32 * 4 + i / 32", "7",
          "(i * 5) & 127", "in[i] & 63")
STATEMENTS = (
    "s[{a}] = v + {n};", "s[{a}] = {n};", "v += s[{a}];", "v += s[{a}] + s[{a} + {n}];", "s[{a}] = s[{b}];", "s[{a}] += {n};",
    "if (i & {n}) s[{a}] = v;", "if (i < {n}) v ^= s[{a}];", "((int4*)s)[i / 2] = make_int4(v, {n}, i, 3);",
    "{{ int4 q = ((int4*)s)[i % 32]; v += q.x + q.w; }}", "((long long*)s)[i] = v;", "v += (int)((long long*)s)[i ^ 2];",
    "for (int k = 0; k < 3; ++k) v += s[{a} + k];", "atomicAdd(&s[{a}], {n});",
)
BARRIERS = ("__syncthreads();", "__syncthreads();", "__syncwarp();", "")


def program(seed):
    """Return the text of a kernel with random accesses and barriers, one a line."""
    rng = random.Random(seed)
    lines = ["for (int k = 0; k < 4; ++k) s[i + 64 * k] = i; __syncthreads();"] if rng.random() < 0.7 else []
    for _ in range(rng.randint(3, 9)):
        statements = STATEMENTS if rng.random() < 0.9 else STATEMENTS[:6]
        text = rng.choice(statements).format(a=rng.choice(PLACES), b=rng.choice(PLACES), n=rng.choice((1, 2, 4, 8, 40)))
        lines += [text, rng.choice(BARRIERS)]
    if rng.random() < 0.4:
        lines = ["for (int turn = 0; turn < 3; ++turn) {", *lines, "}"]
    return "\n".join(['extern "C" __global__ void f(const int* in, int* out) {', f"__shared__ alignas(16) int s[{2 * SIZE}];",
                      "const int i = threadIdx.x; int v = i;", *lines, "out[blockIdx.x * blockDim.x + i] = v; }"])


def search(source, name, grid, block, args, traced, **how):
    """Launch with racecheck; a traced launch has no uniform code. Return (bytes of the last array, report)."""
    arrays = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    trace = [(b, w) for b in range(int(np.prod(grid))) for w in range(-(-int(np.prod(block)) // 32))] if traced else ()
    report = simt.launch(source, name, grid, block, arrays, racecheck=True, workers=1, trace=trace, **how)
    return [a.tobytes() for a in arrays if isinstance(a, np.ndarray)], report


def same(source, name, grid, block, args, **how):
    """Hold both searches to each other; return the hazards."""
    (uniform, found), (reference, exact) = (search(source, name, grid, block, args, traced, **how) for traced in (False, True))
    assert found.hazards == exact.hazards
    assert uniform == reference
    assert found.counters == exact.counters
    return found.hazards


@pytest.mark.sampled(test=5, slow=6)
@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed):
    args = [np.random.default_rng(seed).integers(0, 64, 256).astype(np.int32), np.zeros(512, np.int32)]
    same(program(seed), "f", 2, random.Random(seed).choice((64, 128, 96, 50)), args, warp_order=("forward", "reverse", seed)[seed % 3])


@pytest.mark.slow
def test_the_programs_have_hazards_of_every_kind():
    kinds = set()
    for seed in range(0, 20, 3):
        args = [np.zeros(256, np.int32), np.zeros(512, np.int32)]
        kinds |= {h.kind for h in simt.launch(program(seed), "f", 1, 64, args, racecheck=True, workers=1).hazards}
    assert kinds == {"RAW", "WAR", "WAW", "uninitialised"}


TWO_BUFFERS = """extern "C" __global__ void f(const int* in, int* out) {
    __shared__ int s[2][128];
    const int i = threadIdx.x;
    int v = 0;
    s[0][i] = in[i];
    __syncthreads();
    for (int k = 0; k < 6; ++k) {
        s[~k & 1][i] = in[i] + k;
        for (int j = 0; j < 8; ++j) v += s[k & 1][(i & 96) + j];
        %s
    }
    out[i] = v;
}"""


@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
def test_two_buffers(barrier):
    args = [np.arange(128, dtype=np.int32), np.zeros(128, np.int32)]
    assert bool(same(TWO_BUFFERS % barrier, "f", 1, 128, args)) == (not barrier)


def test_more_notes_than_there_is_room_for():
    """A write after thousands of readings without a barrier: each of them counts."""
    source = """extern "C" __global__ void f(const int* in, int* out) {
        __shared__ int s[64];
        const int i = threadIdx.x;
        s[i] = i;
        __syncthreads();
        int v = 0;
        #pragma unroll 1
        for (int k = 0; k < 6000; ++k) v += s[(i + k) & 63];
        s[i] = v;
        out[i] = v;
    }"""
    hazards = same(source, "f", 1, 64, [np.zeros(1, np.int32), np.zeros(64, np.int32)])
    assert {h.kind for h in hazards} == {"WAR", "RAW"}


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("lost", [None, 1, 2])
@pytest.mark.parametrize(("name", "sizes"), [
    ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16}), ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 8}),
    ("sgemm_2d_tile", {"BM": 32, "BN": 32, "BK": 8, "TM": 4, "TN": 4})])
def test_kernels_with_and_without_their_barriers(name, sizes, lost):
    source, n = kernels.get(name).source, 40
    if lost:
        parts = source.split("__syncthreads();")
        source = "__syncthreads();".join(parts[:lost]) + ";" + "__syncthreads();".join(parts[lost:])
    A, B = (np.random.default_rng(k).standard_normal((n, n)).astype(np.float32) for k in (1, 2))
    i, f = np.int32(n), np.float32
    grid = (-(-n // sizes["BN"]), -(-n // sizes["BM"]))
    block = (sizes["BN"] // sizes.get("TN", 1), sizes["BM"] // sizes.get("TM", 1))
    args = [i, i, i, f(1), A, i, B, i, f(0), np.zeros_like(A), i]
    assert bool(same(source, name, grid, block, args, defines=sizes)) == bool(lost)
