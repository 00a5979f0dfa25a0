"""`wgmma` bit for bit: every type, layout and swizzle against plain NumPy."""

import numpy as np
import pytest
import wgmma_kernels
import wgmma_model as model

from course_lib import simt

OUT = {"f32": (np.uint32, 2), "f16": (np.uint16, 4), "s32": (np.uint32, 2)}      # bits of D's elements; columns per register
KINDS = [(("f16", "f16"), "f32"), (("f16", "f16"), "f16"), (("bf16", "bf16"), "f32"), (("tf32", "tf32"), "f32"),
         (("e4m3", "e4m3"), "f32"), (("e4m3", "e5m2"), "f16"), (("e5m2", "e4m3"), "f32"), (("e5m2", "e5m2"), "f16"),
         (("s8", "s8"), "s32"), (("u8", "s8"), "s32"), (("s8", "u8"), "s32"), (("u8", "u8"), "s32")]


def raw(rng, shape, kind):
    """Return random numbers of a type as unsigned integers, none of them infinite."""
    values = rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind == "tf32":                  # the hardware does not look at the last 13 bits
        return values.astype(np.float32).view(np.uint32)
    found = rng.integers(0, 256, shape).astype(np.uint8)
    if kind == "e4m3":
        found[found & 0x7F == 0x7F] = 1
    if kind == "e5m2":
        found &= 0xBF                   # exponents up to 15: no sum is infinite in half precision
    return found


def sums(rng, n, out):
    if out == "s32":
        return rng.integers(-2**31, 2**31, (64, n)).astype(np.int32)
    return (rng.standard_normal((64, n)) * 2.0 ** rng.integers(-8, 8, (64, n))).astype(np.float32 if out == "f32" else np.float16)


def form_of(kinds, out, n, word=""):
    depth = 256 // model.KINDS[kinds[0]]
    return f"wgmma.mma_async.sync.aligned.m64n{n}k{depth}{word}.{out}.{kinds[0]}.{kinds[1]}"


def literals_of(kinds, signs=(1, 1), layouts=(0, 0), from_registers=False):
    if kinds[0] in ("s8", "u8"):
        return ()
    return (*signs, *(layouts[from_registers:] if model.KINDS[kinds[0]] == 16 else ()))


def as_bytes(matrix):
    return np.ascontiguousarray(matrix).view(np.uint8).reshape(len(matrix), -1)


def registers_of(C, n, out):
    """Return what 128 threads hold of a (64, n) matrix, as 32-bit registers."""
    return np.ascontiguousarray(C[model.held(n)]).view(np.uint32)


def multiply(form, A, B, C, out, widths=(128, 128), across=(0, 0), signs=(1, 1), accumulate=1, from_registers=False,
             shift=0, **how):
    """Run a product of raw matrices (64, K) and (N, K): return the bits of D and the report."""
    n, kinds = len(B), tuple(form.split(".")[-2:])
    images = [model.across(m, w) if along else model.along_k(as_bytes(m), w) for m, w, along in zip((A, B), widths, across)]
    defines = {"STEPS": A.shape[1] * model.KINDS[kinds[0]] // 256, "REGISTERS": n // OUT[out][1], "SHIFT": shift}
    for name, (image, leading, stride, step), width in zip("AB", images, widths):
        defines |= {f"{name}_BYTES": image.size, f"{name}_LEADING": leading, f"{name}_STRIDE": stride, f"{name}_STEP": step or 0,
                    f"{name}_MODE": model.MODES[width]}
    given = [image for image, *_ in images]
    if from_registers:
        given[0] = model.registers_of_a(as_bytes(A)).ravel().view(np.uint8)
        defines["A_BYTES"] = given[0].size
    letter = "f" if out == "f32" else "r"
    C = registers_of(C, n, out).view(np.float32 if letter == "f" else np.uint32)
    D = np.zeros_like(C)
    source = wgmma_kernels.product_kernel(form, n // OUT[out][1], letter, literals_of(kinds, signs, across, from_registers), from_registers)
    report = simt.launch(source, "k", 1, 128, [*given, C, D, np.int32(accumulate)], arch="sm_90a", defines=defines, **how)
    found = np.zeros((64, n), OUT[out][0])
    found[model.held(n)] = D.view(OUT[out][0])
    return found, report


def hold(form, A, B, C, out, rows=range(64), signs=(1, 1), accumulate=1, **how):
    """Compare a product with the statement in NumPy, step by step along K."""
    kinds = tuple(form.split(".")[-2:])
    found, report = multiply(form, A, B, C, out, signs=signs, accumulate=accumulate, **how)
    a, b = (model.decode(m, kind) * sign for m, kind, sign in zip((A, B), kinds, signs))
    wanted, depth = C.astype(float) if accumulate else np.zeros_like(C, float), 256 // model.KINDS[kinds[0]]
    rows = list(rows)
    for first in range(0, a.shape[1], depth):
        part = np.zeros_like(wanted)
        bits = model.multiply(a[:, first:first + depth], b[:, first:first + depth], wanted, kinds, out, rows)
        part[rows] = bits.view({"f32": np.float32, "f16": np.float16, "s32": np.int32}[out])
        wanted = part
    assert (found[rows] == bits).all()
    return report


@pytest.mark.sampled(test=3, slow=12)
@pytest.mark.parametrize(("kinds", "out"), KINDS)
def test_every_type_bit_for_bit(kinds, out):
    rng = np.random.default_rng(3)
    depth = 256 // model.KINDS[kinds[0]]
    A, B = raw(rng, (64, depth), kinds[0]), raw(rng, (16, depth), kinds[1])
    report = hold(form_of(kinds, out, 16), A, B, sums(rng, 16, out), out, widths=(32, 32))
    kind = "i8" if out == "s32" else kinds[0] if kinds[0] in ("f16", "bf16", "tf32") else "f8"
    counted = {name: count for name, count in report.counters.items() if count and "gmma" in name}
    assert counted == {"smsp__inst_executed_pipe_tensor_op_gmma.sum": 4, "multiply_adds_wgmma": 64 * 16 * depth,
                       f"multiply_adds_wgmma_{kind}": 64 * 16 * depth, "operand_bytes_wgmma_a": 64 * 32, "operand_bytes_wgmma_b": 16 * 32}
    assert {report.level[name] for name in counted} == {"PTX level"}


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize("across", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_every_swizzle_along_and_across(width, across):
    """A tile of 64 x N x K from shared memory; across K, N has several groups of `width` bytes.

    Once with one width for both operands and once with another for each: an order of K that both had wrong would go unnoticed.
    """
    rng = np.random.default_rng(width)
    depth = 64 if 0 in across and width == 128 else 32 if 0 in across and width == 64 else 16 if 0 in across and width == 32 else 32
    n = width if across[1] else 24
    A, B = raw(rng, (64, depth), "bf16"), raw(rng, (n, depth), "bf16")
    for widths in ((width, width), (width, 16), (16, width)):
        hold(form_of(("bf16", "bf16"), "f32", n), A, B, sums(rng, n, "f32"), "f32", rows=(0, 37, 63), widths=widths, across=across)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_a_pattern_that_begins_anywhere_has_a_base_offset(width):
    """The swizzle's pattern begins with the tile, three lines of 128 bytes behind a multiple of 1,024; a GPU has not been asked."""
    rng = np.random.default_rng(width)
    A, B = raw(rng, (64, width // 2), "bf16"), raw(rng, (24, width // 2), "bf16")
    hold(form_of(("bf16", "bf16"), "f32", 24), A, B, sums(rng, 24, "f32"), "f32", rows=(0, 13, 63), widths=(width, 16), shift=3)


@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("n", range(8, 257, 8))
def test_every_number_of_columns(n):
    rng = np.random.default_rng(n)
    A, B = raw(rng, (64, 16), "f16"), raw(rng, (n, 16), "f16")
    for out in ("f32", "f16"):
        hold(form_of(("f16", "f16"), out, n), A, B, sums(rng, n, out), out, rows=(5, 58), widths=(32, 16))


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize(("kinds", "out"), [KINDS[0], KINDS[1], KINDS[3], KINDS[5], KINDS[8]])
def test_a_from_registers(kinds, out):
    rng = np.random.default_rng(9)
    depth = 256 // model.KINDS[kinds[0]]
    A, B = raw(rng, (64, depth), kinds[0]), raw(rng, (32, depth), kinds[1])
    hold(form_of(kinds, out, 32), A, B, sums(rng, 32, out), out, rows=(1, 30, 62), widths=(32, 32), from_registers=True)


@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize(("kinds", "out"), [KINDS[0], KINDS[3], KINDS[4], KINDS[7]])
def test_signs_and_a_new_d(kinds, out):
    rng = np.random.default_rng(10)
    depth = 256 // model.KINDS[kinds[0]]
    A, B = raw(rng, (64, depth), kinds[0]), raw(rng, (8, depth), kinds[1])
    for signs, accumulate in (((-1, 1), 1), ((1, -1), 1), ((-1, -1), 0), ((1, 1), 0)):
        hold(form_of(kinds, out, 8), A, B, sums(rng, 8, out), out, range(0, 64, 9), signs, accumulate, widths=(32, 32))


def test_integers_saturate_where_they_are_told_to():
    A, B = np.full((64, 32), 127, np.uint8), np.full((8, 32), 127, np.uint8)
    C = np.full((64, 8), 2**31 - 5, np.int32)
    C[:, 1] = -2**31
    form = form_of(("s8", "s8"), "s32", 8, ".satfinite")
    found, _ = multiply(form, A, B, C, "s32", widths=(32, 32))
    assert set(found[:, 0]) == {2**31 - 1}
    assert set(found[:, 1].view(np.int32)) == {-2**31 + 32 * 127 * 127}
    hold(form_of(("s8", "s8"), "s32", 8), A, B, C, "s32", widths=(32, 32))


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize(("kinds", "out"), [KINDS[0], KINDS[1], KINDS[3], KINDS[4], KINDS[7]])
def test_numbers_that_are_none_and_very_small_ones(kinds, out):
    """Infinities and NaN in A, B and C, subnormal factors, zeros with either sign."""
    rng = np.random.default_rng(11)
    depth, bits = 256 // model.KINDS[kinds[0]], model.KINDS[kinds[0]]
    A, B, C = raw(rng, (64, depth), kinds[0]), raw(rng, (8, depth), kinds[1]), sums(rng, 8, out)
    some = {"f16": 0x7C00, "tf32": 0x7F800000, "e4m3": 0x7F, "e5m2": 0x7C}[kinds[0]]
    A[3, 0], A[7, 1], B[2, 0] = some, some, some
    A[9, 2] |= 1 << bits - 1
    B[5, 2] = 0
    A[11:20] &= A.dtype.type((1 << bits - 1) | (7 if bits == 8 else 0x3FF if bits == 16 else 0x7FE000))
    C[21], C[22], C[23, :4] = np.inf, -np.inf, np.nan
    hold(form_of(kinds, out, 8), A, B, C, out, widths=(32, 32))
    hold(form_of(kinds, out, 8), A[:, ::-1].copy(), B, C, out, rows=range(10, 24), widths=(32, 32))


@pytest.mark.parametrize(("kind", "a", "b", "wanted"), [
    ("f16", 0x0C00, 0x0800, 1 + 16 * 2.0**-25), ("f16", 0x0C00, 0x0400, 1),
    ("e5m2", 0x24, 0x20, 1 + 32 * 2.0**-13), ("e5m2", 0x24, 0x1C, 1)])
def test_terms_are_cut_off_behind_the_largest(kind, a, b, wanted):
    """Beside a 1, products of 2^-25 are counted and of 2^-26 are not; with factors of 8 bits it is 2^-13 and 2^-14."""
    dtype, depth = (np.uint16, 16) if kind == "f16" else (np.uint8, 32)
    found, _ = multiply(form_of((kind, kind), "f32", 8), np.full((64, depth), a, dtype), np.full((8, depth), b, dtype),
                        np.ones((64, 8), np.float32), "f32", widths=(32, 32))
    assert set(found.view(np.float32).ravel()) == {wanted}
