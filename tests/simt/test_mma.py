"""`mma.sync`: every shape and type against exact arithmetic, with the fragments as the PTX manual has them."""

from fractions import Fraction

import numpy as np
import pytest
import tensor_kernels
import tensor_model as model

from course_lib import simt

FLOATS = [("m16n8k16", "f16", "f32"), ("m16n8k16", "f16", "f16"), ("m16n8k8", "f16", "f32"), ("m16n8k8", "f16", "f16"),
          ("m16n8k16", "bf16", "f32"), ("m16n8k8", "bf16", "f32"), ("m16n8k8", "tf32", "f32"), ("m16n8k4", "tf32", "f32")]
DOUBLES = ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"]
BYTES = ["m8n8k16", "m16n8k16", "m16n8k32"]
WIDTH = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4}
STEP = {"f16": 16, "bf16": 16, "tf32": 8}


def numbers(shape):
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def run(op, D, A, B, C, letters):
    """Run the instruction on (cases, 32, registers) arrays."""
    counts = [x.shape[2] for x in (D, A, B, C)]
    as_type = {"r": np.uint32, "f": np.float32, "d": np.float64}
    views = [np.ascontiguousarray(x).view(as_type[letter]) for x, letter in zip((D, A, B, C), letters)]
    report = simt.launch(tensor_kernels.mma_kernel(op, counts, letters), "k", len(D), 32, views)
    return views[0].view(D.dtype), report


def hold(values, kind):
    """Round float64 values to what a type can hold (by cutting off), keeping infinities and NaN."""
    if kind == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        bits = values.astype(np.float32).view(np.uint32)
    cut = np.where(np.isnan(values), bits, bits & np.uint32({"bf16": 0xFFFF0000, "tf32": 0xFFFFE000, "f32": 0xFFFFFFFF}[kind]))
    return cut.astype(np.uint32).view(np.float32).astype(float)


def awkward(rng, shape, kind):
    """Yield factors and sums of different character: plain, of all sizes, cancelling, subnormal, huge, with infinities and NaN."""
    m, n, k = shape
    low, high = (-24, 15) if kind == "f16" else (-133, 127)

    def plain(rows, columns):
        return rng.standard_normal((rows, columns))

    def wide(rows, columns, least, most):
        return plain(rows, columns) * 2.0 ** rng.integers(least, most, (rows, columns))

    yield plain(m, k), plain(k, n), plain(m, n)
    yield np.abs(plain(m, k)), np.abs(plain(k, n)), np.zeros((m, n))
    yield wide(m, k, -8, 8), wide(k, n, -8, 8), wide(m, n, -30, 12)
    yield wide(m, k, low, high // 2), wide(k, n, -6, 6), wide(m, n, low, high // 2)
    yield wide(m, k, low, low + 10), wide(k, n, -1, 10), wide(m, n, low, low + 8)
    yield wide(m, k, low // 2 - 4, low // 2 + 4), wide(k, n, low // 2 - 4, low // 2 + 4), np.zeros((m, n))
    big = plain(m, k) * 2.0 ** (high // 2)
    yield big, plain(k, n) * 2.0 ** (high // 2), -big[:, :1] * np.ones((m, n))
    A, B, C = plain(m, k), plain(k, n), plain(m, n)
    A[:, 1::2], B[1::2] = -A[:, ::2], B[::2]
    yield A, B, C * 2.0**-20
    A, B, C = plain(m, k), plain(k, n), plain(m, n)
    A[rng.random((m, k)) < 0.03] = np.inf
    B[rng.random((k, n)) < 0.03] = rng.choice([np.inf, -np.inf, np.nan, 0.0])
    C[rng.random((m, n)) < 0.1] = rng.choice([np.inf, -np.inf, np.nan])
    B[0, rng.random(n) < 0.3] = 0
    A[0], B[:, 0], C[0, 0] = np.inf, 1, 0
    A[0, 1:], B[0, 0] = 1, 0  # infinity times zero, and nothing else that is not finite
    yield A, B, C
    A, B, C = (rng.choice([0.0, -0.0, 1.0], size) for size in ((m, k), (k, n), (m, n)))
    yield A, B, C


def sizes(values, kind):
    """Return magnitudes as the alignment sees them: a subnormal number counts as the least normal one."""
    return np.where(values == 0, 0, np.maximum(abs(values), 2.0 ** model.LEAST[kind]))


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("name", "kind", "out"), FLOATS)
def test_floating_point_products_bit_for_bit(name, kind, out):
    shape = m, n, k = numbers(name)
    rng = np.random.default_rng(7)
    cases = [tuple(hold(x, t) for x, t in zip(case, (kind, kind, out))) for case in awkward(rng, shape, kind)]
    per = {"a": m * k // 32, "b": k * n // 32, "c": m * n // 32}
    A = np.stack([model.spread(model.encode(c[0], kind), model.layout_a(kind, m, k), per["a"]) for c in cases])
    B = np.stack([model.spread(model.encode(c[1], kind), model.layout_b(kind, k), per["b"]) for c in cases])
    C = np.stack([model.spread(model.encode(c[2], out), model.layout_c, per["c"]) for c in cases])
    if kind == "tf32":  # the hardware does not look at the low 13 bits
        A |= rng.integers(0, 1 << 13, A.shape, dtype=np.uint32) * (A << 9 != 0)
    letter = "f" if out == "f32" else "r"
    op = f"mma.sync.aligned.{name}.row.col.{out}.{kind}.{kind}.{out}"
    D, report = run(op, np.zeros_like(C), A, B, C, (letter, "r", "r", letter))
    for (a, b, c), registers in zip(cases, D):
        wanted = model.multiply(a, b, c, kind, out, STEP[kind])
        found = model.collect(registers, model.layout_c, (m, n), wanted.dtype)
        assert (found == wanted).all()
        if not all(np.isfinite(x).all() for x in (a, b, c)):
            continue
        exact, size = a @ b + c, sizes(a, kind) @ sizes(b, kind) + sizes(c, out)
        good = size < (3e38 if out == "f32" else 6e4)
        values = found.view(np.float32 if out == "f32" else np.float16).astype(float)
        tolerance = (k + 2) * 2.0**-23 * size + ((k + 6) * 2.0**-151 if out == "f32" else 2.0**-10 * abs(exact) + 2.0**-24)
        assert (abs(values - exact)[good] <= tolerance[good]).all()
    assert report.counters["smsp__inst_executed_pipe_tensor_op_hmma.sum"] == len(cases)


def test_terms_are_cut_off_25_bits_behind_the_largest():
    """Sixteen products of 2^-26 vanish beside a 1; of 2^-25 they are counted; a float32 chain would lose both."""
    layout = model.layout_a("f16", 16, 16), model.layout_b("f16", 16)
    found = []
    for small in (2.0**-13, 2.0**-12.0):
        a, b, c = np.full((16, 16), small), np.full((16, 8), 2.0**-13), np.ones((16, 8))
        A, B = (model.spread(model.encode(x, "f16"), where, n)[None] for x, where, n in zip((a, b), layout, (8, 4)))
        C = model.spread(model.encode(c, "f32"), model.layout_c, 4)[None]
        D, _ = run("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", np.zeros_like(C), A, B, C, ("f", "r", "r", "f"))
        found.append(set(D.view(np.float32).ravel()))
    assert found == [{1.0}, {1 + 16 * 2.0**-25}]


@pytest.mark.parametrize("name", DOUBLES)
def test_double_precision_is_a_chain_of_fused_multiply_adds(name):
    m, n, k = numbers(name)
    rng = np.random.default_rng(k)
    A, B, C = rng.standard_normal((m, k)), rng.standard_normal((k, n)), rng.standard_normal((m, n))
    A[0, 0], B[1, 1], C[2, 2], A[3] = np.inf, np.nan, -np.inf, A[3] * 2.0**-1060
    wanted = C.copy()
    for i in range(m):
        for j in range(n):
            for p in range(k):
                terms = A[i, p], B[p, j], wanted[i, j]
                wanted[i, j] = float(Fraction(terms[0]) * Fraction(terms[1]) + Fraction(terms[2])) if np.isfinite(terms).all() \
                    else terms[0] * terms[1] + terms[2]
    per = m * k // 32, k * n // 32, m * n // 32
    registers = [model.spread(x, where, count, 8)[None] for x, where, count in
                 zip((A, B, C), (model.layout_a("f64", m, k), model.layout_b("f64", k), model.layout_c), per)]
    D, report = run(f"mma.sync.aligned.{name}.row.col.f64.f64.f64.f64", np.zeros_like(registers[2]), *registers, "dddd")
    found = model.collect(D[0], model.layout_c, (m, n), np.float64)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert report.counters["smsp__inst_executed_pipe_tensor_op_dmma.sum"] == 1


@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("signs", [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")])
@pytest.mark.parametrize("name", BYTES)
def test_integers(name, signs, saturate):
    m, n, k = numbers(name)
    rng = np.random.default_rng(k)
    A, B = (rng.integers(0, 256, size, dtype=np.uint8) for size in ((m, k), (k, n)))
    A[0], B[:, 0] = 0x80, 0x80
    C = rng.integers(-2**31, 2**31, (m, n)).astype(np.int32)
    C[:, ::2] = rng.choice([2**31 - 1, -2**31, 2**31 - 1000], (m, n // 2))
    a, b = (x.view(np.int8 if s == "s8" else np.uint8).astype(np.int64) for x, s in zip((A, B), signs))
    wanted = a @ b + C
    wanted = wanted.clip(-2**31, 2**31 - 1) if saturate else wanted.astype(np.int32)
    registers = [model.spread(x, where, x.size // 32)[None] for x, where in
                 zip((A, B, C.view(np.uint32)), (model.layout_a("i8", m, k), model.layout_b("i8", k), model.layout_c))]
    op = f"mma.sync.aligned.{name}.row.col{'.satfinite' * saturate}.s32.{signs[0]}.{signs[1]}.s32"
    D, report = run(op, np.zeros_like(registers[2]), *registers, "rrrr")
    assert (model.collect(D[0], model.layout_c, (m, n), np.int32) == wanted).all()
    assert report.counters["smsp__inst_executed_pipe_tensor_op_imma.sum"] == 1


@pytest.mark.parametrize("op", ["mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
                                "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rz", "wgmma.mma_async.sync.aligned",
                                "tcgen05.wait::ld.sync.aligned", "cp.async.bulk.tensor", "mma.sync",
                                "wmma.load.a.sync.aligned.row"])
def test_what_is_not_covered_is_refused_by_name(op):
    text = f""".version 8.7
.target sm_90a
.address_size 64
.visible .entry k() {{
    .reg .b32 %r<9>;
    .loc 1 7 0
    {op};
    ret;
}}
"""
    with pytest.raises(simt.SimtError) as error:
        simt.launch(text, "k", 1, 32, [])
    assert isinstance(error.value, simt.UnsupportedInstruction | simt.PtxSyntaxError)
    assert error.value.line == 7
    assert op.replace("::", "__") in str(error.value)


def test_a_part_of_a_warp_is_an_error():
    source = """
extern "C" __global__ void k(float* D) {
    if (threadIdx.x < 31) {
        float d[4];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%5, %5, %5, %5};"
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(0), "f"(0.0f));
        D[threadIdx.x] = d[0] + d[3];
    }
}
"""
    with pytest.raises(simt.PartialWarp) as error:
        simt.launch(source, "k", 1, 64, [np.zeros(64, np.float32)])
    assert error.value.thread == (31, 0, 0)
    assert error.value.line == 5
    simt.launch(source.replace("< 31", "< 32"), "k", 1, 64, [np.zeros(64, np.float32)])
    with pytest.raises(simt.PartialWarp):
        simt.launch(source.replace("< 31", "< 32"), "k", 1, 24, [np.zeros(64, np.float32)])
