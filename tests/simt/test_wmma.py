"""`nvcuda::wmma`: every shape, type and layout against exact arithmetic, its memory accesses against the pattern of the machine code."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import tensor_kernels
import tensor_model as model

from course_lib import simt

WIDE = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
TYPES = (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32"))
FORMS = [*((shape, kind, out) for shape in WIDE for kind, out in TYPES),
         ((16, 16, 8), "tf32", "f32"), ((8, 8, 4), "f64", "f64")]
STORED = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "f64": np.float64, "f32": np.float32, "s32": np.int32, "s8": np.int8,
          "u8": np.uint8}
STEP = {"f16": 16, "bf16": 16, "tf32": 4}
LAYOUTS = list(itertools.product([True, False], repeat=3))
REQUESTS, SECTORS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
SHARED = ("smsp__sass_inst_executed_op_ldsm.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum")


def stored(matrix, row_major, ld, dtype):
    """Lay a matrix out with `ld` elements between rows or columns; the gaps hold 99."""
    lines = matrix if row_major else matrix.T
    memory = np.full((lines.shape[0], ld), 99, dtype)
    memory[:, :lines.shape[1]] = lines
    return memory


def as_stored(values, kind):
    if kind == "bf16":
        return model.encode(values, "bf16")
    return values.astype(STORED[kind])


def hold(values, kind):
    """Cut float64 values to the type."""
    if kind in ("f16", "f64", "s32", "s8", "u8"):
        return values.astype(STORED[kind]).astype(np.float64)
    bits = values.astype(np.float32).view(np.uint32) & np.uint32({"bf16": 0xFFFF0000, "tf32": 0xFFFFE000, "f32": 0xFFFFFFFF}[kind])
    return bits.view(np.float32).astype(float)


def factors(rng, kind, size):
    if kind in ("s8", "u8"):
        return rng.integers(-128, 128, size).astype(float) if kind == "s8" else rng.integers(0, 256, size).astype(float)
    return hold(rng.standard_normal(size) * 2.0 ** rng.integers(-4, 4, size), kind)


def product(A, B, C, kind, out):
    """Return D as the array that the kernel stores."""
    if kind in ("s8", "u8"):
        return (A @ B + C).astype(np.int32)
    if kind == "f64":
        D = C.copy()
        for i, j, k in itertools.product(range(A.shape[0]), range(B.shape[1]), range(A.shape[1])):
            D[i, j] = float(Fraction(A[i, k]) * Fraction(B[k, j]) + Fraction(D[i, j]))
        return D
    return model.multiply(A, B, C, kind, out, STEP[kind]).view(STORED[out])


def run(shape, kind, out, rows, staged, steps=2, seed=0, padding=(0, 0, 0)):
    m, n, k = shape
    K = k * steps
    rng = np.random.default_rng(seed)
    A, B = factors(rng, kind, (m, K)), factors(rng, kind, (K, n))
    C = rng.integers(-1000, 1000, (m, n)).astype(float) if out == "s32" else hold(rng.standard_normal((m, n)), out)
    lds = [(x.shape[1] if row else x.shape[0]) + 16 * p for x, row, p in zip((A, B, C), rows, padding)]
    given = [stored(as_stored(x, t), row, ld, STORED[t]) for x, t, row, ld in zip((A, B, C), (kind, kind, out), rows, lds)]
    given[0].flags.writeable = given[1].flags.writeable = False
    D = np.full_like(given[2], 99)
    report = simt.launch(tensor_kernels.WMMA_GEMM, "k", 1, 32, [*given, D, *map(np.int32, (K, *lds))],
                         defines=tensor_kernels.wmma_defines(shape, kind, out, rows, staged), racecheck=staged)
    wanted = stored(product(A, B, C, kind, out), rows[2], lds[2], STORED[out])
    return D, wanted, report


@pytest.mark.sampled(test=1, slow=5)
@pytest.mark.parametrize(("shape", "kind", "out"), FORMS)
def test_products_from_memory_in_every_layout(shape, kind, out):
    """Global memory in two of the eight layouts, shared memory in two others, chosen so that all come up."""
    first = FORMS.index((shape, kind, out))
    for i in range(2):
        rows = LAYOUTS[(3 * first + 5 * i) % 8]
        D, wanted, report = run(shape, kind, out, rows, bool((first + i) % 2), seed=first, padding=(1, 2, 1))
        assert np.array_equal(D, wanted)
        assert not report.hazards
    pipe = {"f64": "dmma", "s8": "imma", "u8": "imma"}.get(kind, "hmma")
    each = {"f64": 1, "tf32": 4}.get(kind, 2)
    assert report.counters[f"smsp__inst_executed_pipe_tensor_op_{pipe}.sum"] == 2 * each


def sectors(addresses):
    return len(set((addresses // 32).ravel().tolist()))


def expected_traffic(shape, kind, rows, ld, which):
    """Return (requests, sectors) of one wmma.load of A or B from global memory, from the instructions that ptxas makes of it."""
    m, n, k = shape
    size = {"f16": 2, "bf16": 2, "tf32": 4, "f64": 8, "s8": 1, "u8": 1}[kind]
    lines, along_k = (m, rows) if which == "a" else (n, not rows)
    v = 4 // size if size < 4 else 1
    g, t = np.arange(32) // 4, np.arange(32) % 4
    total = [0, 0]
    for i, k0 in itertools.product(range(0, lines, 8), range(0, k, 4 * v)):
        if along_k:
            parts = [(i + g) * ld + k0 + v * t]
        elif size == 2:  # loaded as it lies, turned in registers
            parts = [(k0 + g) * ld + i + v * t]
        else:
            parts = [(k0 + v * t + h) * ld + i + g for h in range(v)]
        total[0] += len(parts)
        total[1] += sum(sectors(p * size) for p in parts)
    return total


@pytest.mark.sampled(test=1, slow=5)
@pytest.mark.parametrize(("shape", "kind"), [(s, k) for s, k, out in FORMS if out != "f16"])
def test_global_accesses_are_those_of_the_machine_code(shape, kind):
    m, n, k = shape
    out = {"s8": "s32", "u8": "s32", "f64": "f64"}.get(kind, "f32")
    for rows in ((True, True, True), (False, False, False)):
        _, _, report = run(shape, kind, out, rows, False, steps=1)
        a = expected_traffic(shape, kind, rows[0], k if rows[0] else m, "a")
        b = expected_traffic(shape, kind, rows[1], n if rows[1] else k, "b")
        side_by_side = rows[2] != (shape == (8, 32, 16))
        requests = m * n // 32 // (2 if side_by_side else 1)
        assert report.counters[REQUESTS.format("ld")] == a[0] + b[0] + requests
        assert report.counters[REQUESTS.format("st")] == requests
        size = 8 if kind == "f64" else 4
        g, t = np.arange(32) // 4, np.arange(32) % 4
        inner = {True: n, False: m}[rows[2]]
        if side_by_side:
            of_c = sum(sectors((i + g) * inner * size + (j + 2 * t) * size)
                       for i in range(0, m * n // inner, 8) for j in range(0, inner, 8))
        else:
            of_c = sum(sectors((i + 2 * t + h) * inner * size + (j + g) * size)
                       for i in range(0, m * n // inner, 8) for j in range(0, inner, 8) for h in (0, 1))
        assert report.counters[SECTORS.format("st")] == of_c
        assert report.counters[SECTORS.format("ld")] == a[1] + b[1] + of_c


SHARED_LOAD = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const TYPE* x, TYPE* y) {
    __shared__ __align__(32) TYPE s[4096];
    for (int i = threadIdx.x; i < 4096; i += 32) s[i] = x[i];
    __syncthreads();
    wmma::fragment<wmma::USE, 16, 16, 16, TYPE, wmma::LAYOUT> f;
    asm volatile("// the load");
    wmma::load_matrix_sync(f, s, LD);
    for (int i = 0; i < f.num_storage_elements; ++i) y[threadIdx.x * f.num_storage_elements + i] = f.x[i];
}
"""


@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize(("ld", "wavefronts"), [(16, 8), (24, 4), (32, 16), (64, 32), (72, 4)])
@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize("use", ["matrix_a", "matrix_b"])
def test_halves_come_from_shared_memory_by_rows_of_16_bytes(use, layout, ld, wavefronts):
    """One LDSM.x4: four phases of eight rows; rows 32 bytes apart meet in the banks two by two, 64 apart four by four."""
    x = np.arange(4096).astype(np.float16)
    y = np.zeros(512, np.float16)
    report = simt.launch(SHARED_LOAD, "k", 1, 32, [x, y], defines={"TYPE": "__half", "USE": use, "LAYOUT": layout, "LD": ld})
    assert [report.counters[name.format("ld")] for name in SHARED] == [1, wavefronts]
    assert np.array_equal(y.reshape(32, 16), fragment(x, use, layout == "row_major", ld))


def fragment(x, use, row_major, ld):
    """The 16 elements per lane of a 16x16 half fragment, as an H200 holds them: the eight of mma.m16n8k16, twice."""
    lane, e = np.arange(32)[:, None], np.arange(16) % 8
    g, t = lane // 4, lane % 4
    first, second = e // 2 % 2 * 8, e // 4 * 8
    if use == "matrix_a":
        row, column = g + first, 2 * t + e % 2 + second
    else:
        row, column = 2 * t + e % 2 + first, g + second
    return x[row * ld + column if row_major else column * ld + row]


def test_mixed_half_and_float_accumulators():
    source = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* A, const half* B, const CT* C, DT* D) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, CT> c;
    wmma::fragment<wmma::accumulator, 16, 16, 16, DT> d;
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::load_matrix_sync(c, C, 16, wmma::mem_row_major);
    wmma::mma_sync(d, a, b, c);
    wmma::store_matrix_sync(D, d, 16, wmma::mem_row_major);
}
"""
    rng = np.random.default_rng(5)
    A, B = (rng.standard_normal((16, 16)).astype(np.float16) * 60 for _ in range(2))
    for ct, dt in (("half", "float"), ("float", "half")):
        C = (rng.standard_normal((16, 16)) * 1e4).astype(np.float16 if ct == "half" else np.float32)
        C[0, 0], C[0, 1], C[0, 2] = np.inf, 6.1e-8, np.nan
        D = np.zeros((16, 16), np.float32 if dt == "float" else np.float16)
        simt.launch(source, "k", 1, 32, [A, B, C, D], defines={"CT": ct, "DT": dt})
        wanted = model.multiply(A.astype(float), B.astype(float), C.astype(float), "f16", "f32", 16).view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            assert np.array_equal(D, wanted.astype(D.dtype), equal_nan=True)


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("change", "error", "what"), [
    (("A, 16", "A, 20"), simt.InvalidOperand, "stride 20"), (("A, 16", "A + 4, 16"), simt.Misaligned, "16"),
    (("A, 16", "A + 16, 16"), simt.OutOfBounds, "A["), (("A, 16", "A, 16 + threadIdx.x / 16 * 8"), simt.InvalidOperand, "thread 0"),
    (("A, 16", "A + threadIdx.x / 31 * 16, 16"), simt.InvalidOperand, "another address"),
    (("D, d", "D + 16, d"), simt.OutOfBounds, "D["), (("wmma::mma_sync(d, a, b, d);", "if (threadIdx.x) wmma::mma_sync(d, a, b, d);"),
                                                      simt.PartialWarp, "32 threads"),
])
def test_errors(change, error, what):
    source = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* A, const half* B, float* D) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
    wmma::fill_fragment(d, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(d, a, b, d);
    wmma::store_matrix_sync(D, d, 16, wmma::mem_row_major);
}
"""
    args = [np.ones((16, 16), np.float16), np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)]
    simt.launch(source, "k", 1, 32, args)
    assert (args[2] == 16).all()
    with pytest.raises(error) as raised:
        simt.launch(source.replace(*change), "k", 1, 32, args)
    assert what in str(raised.value)
    assert raised.value.line == source.split("\n").index(next(x for x in source.split("\n") if change[0] in x)) + 1
