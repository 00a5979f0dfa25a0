"""Random straight-line kernels through NVIDIA's compiler: integers and single precision, against the same steps in NumPy.

The values pass between lanes, through shared memory and through branches on the way. A seed that fails is a test of its own.
"""

import numpy as np
import pytest

from course_lib import simt

U32, LANES = np.uint32, np.arange(64)
BINARY = {
    "{} + {}": np.add, "{} - {}": np.subtract, "{} * {}": np.multiply, "{} & {}": np.bitwise_and, "{} | {}": np.bitwise_or,
    "{} ^ {}": np.bitwise_xor, "min({}, {})": np.minimum, "max({}, {})": np.maximum,
    "{0} >> ({1} & 31)": lambda a, b: a >> (b & U32(31)), "{0} << ({1} & 31)": lambda a, b: a << (b & U32(31)),
    "__umulhi({}, {})": lambda a, b: (a.astype(np.uint64) * b >> np.uint64(32)).astype(U32),
    "({0} < {1} ? {0} : ~{1})": lambda a, b: np.where(a < b, a, ~b), "{} % ({} | 1)": lambda a, b: a % (b | U32(1)),
    "(unsigned)min((int){}, (int){})": lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(U32),
    "__shfl_xor_sync(~0u, {0}, 5) + {1}": lambda a, b: a[LANES ^ 5] + b,
    "__shfl_down_sync(~0u, {0}, 3) ^ {1}": lambda a, b: np.where(LANES % 32 < 29, np.roll(a, -3), a) ^ b,
    "__popc({}) * {}": lambda a, b: np.bitwise_count(a).astype(U32) * b,
    "__funnelshift_l({0}, {1}, {0})": lambda a, b: (((b.astype(np.uint64) << np.uint64(32) | a) << (a & U32(31)).astype(np.uint64))
                                                    >> np.uint64(32)).astype(U32),
    "through(tile, {0}, {1})": lambda a, b: a[b & U32(63)],
}
FLOATS = {
    "__fadd_rn({}, {})": np.add, "__fsub_rn({}, {})": np.subtract, "__fmul_rn({}, {})": np.multiply,
    "__fdiv_rn({0}, fabsf({1}) + 1.0f)": lambda a, b: a / (np.abs(b) + np.float32(1)), "fminf({}, {})": np.fmin, "fmaxf({}, {})": np.fmax,
    "({0} < {1} ? {0} : -{1})": lambda a, b: np.where(a < b, a, -b), "__fsqrt_rn(fabsf({0} - {1}))": lambda a, b: np.sqrt(np.abs(a - b)),
    "floorf({0}) + {1}": lambda a, b: np.floor(a) + b,
    "(float)(int)fminf({0}, 1e6f) + {1}": lambda a, b: np.trunc(np.clip(a, np.float32(-2**31), np.float32(1e6))) + np.float32(0) + b,
}
HEAD = r"""
__device__ unsigned through(unsigned* tile, unsigned value, unsigned from) {
    tile[threadIdx.x] = value;
    __syncthreads();
    const unsigned found = tile[from & 63];
    __syncthreads();
    return found;
}
extern "C" __global__ void f(const TYPE* in, TYPE* out) {
    __shared__ unsigned tile[64];
    TYPE r[6];
    for (int k = 0; k < 6; ++k) r[k] = in[k * 64 + threadIdx.x];
    tile[threadIdx.x] = 0;
"""
TAIL = "\n    for (int k = 0; k < 6; ++k) out[k * 64 + threadIdx.x] = r[k];\n}\n"


def program(rng, operations, values, guard, steps=40):
    """Return CUDA C of random steps, and the registers after them; a quarter of the steps runs under a condition."""
    lines, names = [], list(operations)
    for _ in range(steps):
        text = names[rng.integers(len(names))]
        d, a, b = (int(v) for v in rng.integers(0, 6, 3))
        result = operations[text](values[a], values[b])
        alone = "sync" in text or "through" in text  # all lanes must take part
        if alone or rng.random() < 0.75:
            lines.append(f"    r[{d}] = {text.format(f'r[{a}]', f'r[{b}]')};")
        else:
            c = int(rng.integers(0, 6))
            lines.append(f"    if ({guard[0].format(f'r[{c}]')}) r[{d}] = {text.format(f'r[{a}]', f'r[{b}]')};")
            result = np.where(guard[1](values[c]), result, values[d])
        values[d] = result.astype(values[d].dtype)
    return "\n".join(lines), values


def check(text, kind, given, values, **how):
    out = np.zeros((6, 64), given[0].dtype)
    simt.launch(HEAD + text + TAIL, "f", 1, 64, [np.array(given), out], defines={"TYPE": kind}, workers=1, **how)
    assert (out.view(U32) == np.array(values).view(U32)).all(), text


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_integers(seed):
    rng = np.random.default_rng(seed)
    given = [rng.integers(0, 1 << 32, 64).astype(U32) >> U32(rng.integers(0, 31)) for _ in range(6)]
    text, values = program(rng, BINARY, list(given), ("{} & 4", lambda v: v & U32(4) != 0))
    for how in ({}, {"racecheck": True}, {"warp_order": "interleaved"}):
        check(text, "unsigned", given, values, **how)


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("seed", range(8))
def test_single_precision(seed):
    rng = np.random.default_rng(100 + seed)
    given = [(rng.standard_normal(64) * 10.0 ** rng.integers(-3, 4)).astype(np.float32) for _ in range(6)]
    with np.errstate(all="ignore"):
        text, values = program(rng, FLOATS, list(given), ("{} > 0.5f", lambda v: v > np.float32(0.5)), steps=25)
    if not np.isfinite(values).all():
        pytest.skip("this program overflows: which NaN it is, is not defined")
    for how in ({}, {"racecheck": True}):
        check(text, "float", given, values, **how)
