"""The model in plain Python and both code generators agree, bit for bit and count for count: on lessons' kernels and on random ones."""

from pathlib import Path

import coverage_examples
import numpy as np
import pytest
import test_random_kernels as random_kernels

from course_lib import simt
from course_lib.simt import model
from course_lib.simt.host import build, counters
from course_lib.simt.model import machine
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser
from course_lib.simt.ptx.ir import Kind

KERNELS = Path(simt.__file__).parents[1] / "kernels"
NAMES = {"executed": counters.EXECUTED}
for how in ("ld", "st"):
    NAMES |= {f"requests {how}": counters.GLOBAL_REQUESTS.format(how), f"sectors {how}": counters.GLOBAL_SECTORS.format(how),
              f"wavefronts {how}": counters.SHARED_WAVEFRONTS.format(how), f"conflicts {how}": counters.SHARED_CONFLICTS.format(how)}
INT, FLT = np.int32, np.float32


def copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def agree(source, entry, grid, block, args, defines=None):
    """Launch on the model, on the reference generator's code and on the uniform generator's; hold all three to each other."""
    kernel = build.build(source, entry, block=block, defines=defines)
    expected = copies(args)
    counted = model.run(build_program(parser.parse(kernel.ptx), entry), grid, block, expected)
    for order in ("interleaved", "forward"):             # interleaved warps always run the reference generator's code
        given = copies(args)
        report = simt.launch(source, entry, grid, block, given, defines=defines, workers=1, warp_order=order)
        assert {name: report.counters[metric] for name, metric in NAMES.items()} == {name: counted[name] for name in NAMES}
        for found, right in zip(given, expected):
            assert np.asarray(found).tobytes() == np.asarray(right).tobytes()


def product(M, N, K, seed=0):
    rng = np.random.default_rng(seed)
    A, B, C = (rng.standard_normal(shape).astype(FLT) for shape in ((M, K), (K, N), (M, N)))
    return [INT(M), INT(N), INT(K), FLT(1.5), A, INT(K), B, INT(N), FLT(0.5), C, INT(N)]


@pytest.mark.parametrize(("name", "block", "defines"), [
    ("sgemm_naive", (8, 4, 1), {}), ("sgemm_tiled", (8, 8, 1), {"BM": 8, "BN": 8, "BK": 8}),
    ("sgemm_padded", (8, 8, 1), {"TILE": 8, "PAD": 1}),
    pytest.param("sgemm_coalesced", (8, 8, 1), {"TILE": 8}, marks=pytest.mark.slow),
    pytest.param("sgemm_swapped", (8, 8, 1), {}, marks=pytest.mark.slow),
    pytest.param("sgemm_1d_tile", (32, 2, 1), {"BM": 16, "BN": 32, "BK": 8, "TM": 8}, marks=pytest.mark.slow),
])
def test_kernels_of_the_lessons(name, block, defines):
    M, N, K = 11, 13, 10
    agree(KERNELS / f"{name}.cu", name, (2 if name != "sgemm_1d_tile" else 1, -(-M // 4) if name == "sgemm_naive" else 2, 1), block,
          product(M, N, K), defines)


DIVERGENT = r"""
extern "C" __global__ void f(const int* in, int* out) {
    __shared__ int tile[64];
    const int i = threadIdx.x + 48 * blockIdx.x;
    int sum = 0;
    for (int k = 0; k < (in[i] & 7); ++k)
        sum += k % 3 == 0 ? in[(i + k) % 96] : 3 * k;
    tile[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x & 4) sum += tile[(threadIdx.x * 5 + 3) % 48];
    else if (threadIdx.x & 1) sum -= tile[47 - threadIdx.x];
    if (in[i] % 11 == 0) return;
    out[i] = sum;
}
"""


def test_lanes_that_diverge_and_meet_again():
    rng = np.random.default_rng(3)
    agree(DIVERGENT, "f", (2, 1, 1), (48, 1, 1), [rng.integers(0, 1000, 96).astype(INT), np.full(96, -1, INT)])


WIDE = r"""
extern "C" __global__ void f(const float4* in, float2* out) {
    __shared__ float4 tile[64];
    tile[threadIdx.x ^ 5] = in[threadIdx.x];
    __syncthreads();
    const float4 v = tile[threadIdx.x * STEP % 64];
    out[threadIdx.x * 2] = make_float2(v.x + v.y, v.z * v.w);
}
"""


@pytest.mark.parametrize("step", [1, 2, 7, 32])
def test_wide_accesses_and_their_phases(step):
    rng = np.random.default_rng(4)
    agree(WIDE, "f", (1, 1, 1), (64, 1, 1), [rng.standard_normal((64, 4)).astype(FLT), np.zeros((128, 2), FLT)], {"STEP": step})


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6)),
                                  *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(6, 40))])
@pytest.mark.parametrize("kind", ["unsigned", "float"])
def test_random_kernels(kind, seed):
    rng = np.random.default_rng(1000 + seed)
    if kind == "unsigned":
        operations = {text: how for text, how in random_kernels.BINARY.items() if "shfl" not in text}
        given = [rng.integers(0, 1 << 32, 64).astype(np.uint32) >> np.uint32(rng.integers(0, 31)) for _ in range(6)]
        guard = ("{} & 4", lambda v: v & np.uint32(4) != 0)
    else:
        operations, guard = random_kernels.FLOATS, ("{} > 0", lambda v: v > 0)
        given = [rng.standard_normal(64).astype(FLT) for _ in range(6)]
    with np.errstate(all="ignore"):
        text, _ = random_kernels.program(rng, operations, list(given), guard)
    source = random_kernels.HEAD + text + random_kernels.TAIL
    agree(source, "f", (1, 1, 1), (64, 1, 1), [np.array(given), np.zeros((6, 64), given[0].dtype)], {"TYPE": kind})


def test_what_the_model_does_not_define_is_refused():
    text = 'extern "C" __global__ void f(int* p) { *p = __activemask(); }'
    program = build_program(parser.parse(build.build(text, "f").ptx), "f")
    with pytest.raises(model.Undefined, match=r"the model has no activemask\."):
        model.run(program, (1, 1, 1), (1, 1, 1), [np.zeros(1, INT)])
    beyond = 'extern "C" __global__ void f(int* p) { p[threadIdx.x] = 1; }'
    with pytest.raises(model.Undefined, match="4 bytes at"):
        model.run(build_program(parser.parse(build.build(beyond, "f").ptx), "f"), (1, 1, 1), (2, 1, 1), [np.zeros(1, INT)])


SIMPLE = ("Integer arithmetic", "Logic, shifts, bits and bytes", "Moves and conversions", "Packed video instructions",
          "Half precision and bfloat16", "Hints, fences and other instructions without a value")
WITHOUT_DEFINITION = {"ex2", "tanh", "prefetch", "prefetchu", "applypriority", "createpolicy", "pmevent", "isspacep"}


@pytest.mark.parametrize("section", SIMPLE)
def test_the_model_computes_a_form_or_says_that_it_does_not(section):
    rows = coverage_examples.chosen(section)
    program = build_program(parser.parse(coverage_examples.kernel(rows[:400])), "k")
    undefined = set()
    for ins in program.instructions:
        if ins.kind is Kind.COMPUTE:
            given = [machine.cut(0x7FC12345, machine.operand_width(ins, i)) for i in range(len(ins.inputs))]
            try:
                machine.results(ins, given)
            except model.Undefined:
                undefined.add(ins.opcode[0])
    assert undefined <= WITHOUT_DEFINITION
