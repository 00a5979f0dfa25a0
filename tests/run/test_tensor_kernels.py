"""The kernels for tensor cores: as exact as their numbers allow, whatever the numbers, and never less."""

import dataclasses

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, UserKernel, get
from course_lib.run import footprint, matches, max_error, run, to_bf16, to_e4m3
from course_lib.run.accuracy import limit, tolerance
from course_lib.toolchain import CompileError, compile_cuda

NAMES = tuple(name for name, kernel in KERNELS.items() if kernel.inputs)
SMALL = {"BN": 128, "STAGES": 2, "blocks": 2}
WARPGROUPS = {name: {"blocks": 2} if name == "sgemm_parts" else SMALL for name in NAMES if get(name).boxes}    # their tiles are of one size
SMALL = {name: {"BM": 32, "BN": 32, "BK": 32 if name == "sbgemm_stages" else 16, "WM": 16, "WN": 32} for name in NAMES} | WARPGROUPS
GEN = np.random.default_rng(8)


def normal(*shape):
    return GEN.standard_normal(shape).astype(np.float32)


def bits(pattern, *shape):
    """Return numbers from 1 to 2 with these bits behind the point."""
    return np.full(shape, 0x3F800000 | pattern, np.uint32).view(np.float32)


def wide(*shape):
    """Return numbers of very different size, of both signs."""
    return (GEN.standard_normal(shape) * 2.0 ** GEN.integers(-40, 40, shape)).astype(np.float32)


def cancelling(M, N, K):
    """Return A and B whose sums are tiny beside their terms: every term comes twice, with both signs, the second a little off."""
    A, B = normal(M, K), normal(K, N)
    A[:, 1::2], B[1::2] = -A[:, :K // 2 * 2:2], B[:K // 2 * 2:2] * np.float32(1 + 2**-20)
    return A, B


def some(names, *quick):
    """Return names for a test that takes seconds for each: all but these are slow."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


INPUTS = {
    "normal": lambda: (normal(37, 53), normal(53, 29)),
    "all of one sign": lambda: (1 + GEN.random((37, 70), np.float32), 1 + GEN.random((70, 29), np.float32)),
    "of all sizes": lambda: (wide(37, 53), wide(53, 29)),
    "one large term among small ones": lambda: (np.where(np.arange(53) == 3, np.float32(2**14), normal(37, 53)), normal(53, 29)),
    "cancelling": lambda: cancelling(37, 29, 54),
    "just below a tie in TF32": lambda: (bits(0xFFF, 37, 40), bits(0xFFF, 40, 29)),
    "just above a tie in TF32": lambda: (bits(0x1001, 37, 40), -bits(0x1001, 40, 29)),
    "a tie in bfloat16": lambda: (bits(0x8000, 37, 40), bits(0x18000, 40, 29)),
    "all low bits set": lambda: (bits(0xFFFF, 37, 40), bits(0xFFFF, 40, 29)),
    "all parts of one sign": lambda: (bits(0x403F, 37, 16), bits(0x403F, 16, 29)),
    "all bits set": lambda: (bits(0x7FFFFF, 37, 40), bits(0x7FFFFF, 40, 29)),
    "tiny": lambda: (normal(37, 40) * np.float32(2.0**-120), normal(40, 29) * np.float32(2.0**-3)),
    "subnormal": lambda: (normal(37, 40) * np.float32(2.0**-133), normal(40, 29) * np.float32(2.0**100)),
    "products below all floats": lambda: (normal(37, 40) * np.float32(2.0**-100), normal(40, 29) * np.float32(2.0**-60)),
    "huge": lambda: (normal(37, 40) * np.float32(2.0**120), normal(40, 29) * np.float32(2.0**-10)),
    "one term": lambda: (normal(37, 1), normal(1, 29)),
    "zeros": lambda: (np.zeros((37, 40), np.float32), normal(40, 29)),
}


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=14)
@pytest.mark.parametrize("what", INPUTS)
@pytest.mark.parametrize("name", NAMES)
def test_no_numbers_are_too_hard(name, what):
    A, B = INPUTS[what]()
    if make := {"bf16": to_bf16, "e4m3": to_e4m3}.get(get(name).stored):
        A, B = make(A), make(B)                # the bound is that of the sums alone
    result = run(name, A, B, backend="sim", **SMALL[name])
    assert max_error(result.C, A, B, inputs=get(name).inputs) <= limit(A, get(name).inputs, rounded=bool(get(name).result))


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("name", NAMES)
def test_small_whole_numbers_are_exact(name):
    largest = 8 if get(name).stored == "e4m3" else 128
    A, B = (GEN.integers(-largest, largest + 1, shape).astype(np.float32) for shape in ((45, 67), (67, 50)))
    C, right = run(name, A, B, backend="sim", **SMALL[name]).C, A.astype(np.float64) @ B
    assert np.array_equal(C, to_bf16(right) if get(name).result else right)


@pytest.mark.parametrize("K", [1, 29, 31, 200])
def test_the_split_meets_what_float32_may_miss(K):
    """Its own bound is below float32's from K = 31 on; on these numbers it is better for every K."""
    assert (tolerance(K, inputs="bf16x3") < tolerance(K)) == (K >= 31)
    for A, B in ((normal(33, K), normal(K, 35)), (wide(33, K), wide(K, 35)), (bits(0x7FFFFF, 33, K), bits(0x7F00FF, K, 35))):
        C = run("sgemm_split", A, B, backend="sim", **SMALL["sgemm_split"]).C
        assert matches(C, A, B)


def test_how_far_the_others_are_off():
    """Where every rounding goes the same way, TF32 and bfloat16 come close to what they may miss."""
    for name, pattern in (("sgemm_mma", 0xFFF), ("sgemm_wmma", 0xFFF), ("sgemm_bf16", 0x7FFF)):
        A, B = bits(pattern, 16, 24), bits(pattern, 24, 16)
        C = run(name, A, B, backend="sim", **SMALL[name]).C
        assert 0.9 * limit(A, get(name).inputs) < max_error(C, A, B, inputs=get(name).inputs) < limit(A, get(name).inputs)


def spoiled(name, *changes):
    """Return the kernel with changes to its text."""
    text = get(name).source
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return UserKernel.from_source(text, like=name)


MUTANTS = [
    ("sgemm_wmma", "normal", ("? wmma::__float_to_tf32(B[", "? __float2int_rn(B[")),
    ("sgemm_wmma", "normal", ("&As[warp_row + 16 * i][k]", "&As[16 * i][k]")),
    ("sgemm_wmma", "normal", ("acc[i][j], a[i], b[j], acc[i][j]", "acc[i][j], a[i], b[j], acc[0][0]")),
    ("sgemm_mma", "all low bits set", ('asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));', "y = __float_as_uint(x) & 0xffffe000u;")),
    ("sgemm_mma", "normal", ("k + t + e / 2 * 4", "k + t + e / 2 * 3")),
    ("sgemm_mma", "normal", ("[k + t + 4 * e]", "[k + t]")),
    ("sgemm_mma", "normal", ("g + e % 2 * 8", "g + e / 2 * 8")),
    ("sgemm_mma", "normal", ("8 * j + 2 * t + e % 2", "8 * j + 2 * t + e / 2")),
    ("sgemm_bf16", "a tie in bfloat16", ('"f"(second), "f"(first)', '"f"(first), "f"(second)')),
    ("sgemm_bf16", "all low bits set", ("cvt.rn.bf16x2", "cvt.rz.bf16x2")),
    ("sgemm_bf16", "normal", ("x4.trans", "x4")),
    ("sgemm_bf16", "normal", ("b[j / 2][j % 2 * 2 + 1]", "b[j / 2][j % 2 * 2]")),
    *((name, "normal", change) for name in ("sbgemm_mma", "sbgemm_stages") for change in (
        ("x4.trans", "x4"), ("<< 16", "<< 0"), ("half % 2 * 2 + e", "half % 2 + e"))),
    ("sbgemm_stages", "normal", ("p + (size_t)i * ld", "p + i")),
    ("sbgemm_stages", "normal", ("a[(k + 1) % 2]", "a[k % 2]")),
    ("sbgemm_stages", "normal", ("b[n % 2][2 * h + 1]", "b[n % 2][2 * h]")),
    ("sgemm_split", "all parts of one sign", ("int part = sum; part >= 0; --part", "int part = sum; part > 0; --part")),
    ("sgemm_split", "all parts of one sign", ("int sum = 2; sum >= 0", "int sum = 1; sum >= 0")),
    ("sgemm_split", "all parts of one sign", ("part = sum; part >= 0", "part = sum == 2 ? 1 : sum; part >= 0")),  # without a2 b0
    ("sgemm_split", "all parts of one sign", ("part = sum; part >= 0", "part = sum; part >= sum / 2")),  # without a0 b2
    ("sgemm_split", "all parts of one sign", ("part >= 0; --part", "part >= 0; part -= sum == 2 ? 2 : 1")),  # without a1 b1
    ("sgemm_split", "all parts of one sign", ("part < 3; ++part) {", "part < 2; ++part) {")),  # the third part is never stored
    ("sbgemm_tma", "normal", ("i / 2 % 2 * 8, q", "i / 4 % 2 * 8, q")),
    ("sbgemm_tma", "normal", ("Bs + i * 128", "Bs + i * 64")),
    ("sbgemm_tma", "normal", ("group * 64 * 128 + 2 * i", "group * 64 * 128 + i")),
    *(("sbgemm_wide_stores", "normal", change) for change in (
        ("odd ? x : z", "odd ? z : x"), ("{a, b, z, w} : float4{x, y, a, b}", "{z, w, a, b} : float4{x, y, a, b}"), ("odd * 8 + t", "t"),
        ("row + j * 4", "row + j * 2"))),
    *(("sgemm_parts", "all parts of one sign", ("201100", order)) for order in ("101100", "200100", "201000")),
    ("sgemm_parts", "all of one sign", ("c[i] += d[i]", "c[i] = d[i]")),
    ("sgemm_parts", "normal", ("x = shifts[i / 2 % 2] + columns", "x = shifts[0] + columns")),
    ("sgemm_parts", "normal", ("min(row + 8, M - 1)", "min(row, M - 1)")),
    *((name, "normal", ("^ line % 8) * 16", "^ line % 4) * 16")) for name in ("bgemm_clusters", "b8gemm_clusters")),
    ("b8gemm_clusters", "normal", ("group * 64 * 128 + i)", "group * 64 * 128 + 2 * i)")),
    ("b8gemm_clusters", "normal", ("Bs + i));", "Bs + 2 * i));")),
    ("b8gemm_clusters", "all of one sign", ("i < BK; i += 32", "i < 32; i += 32")),
    ("sgemm_split", "normal", ("x.x -= __uint_as_float(low << 16)", "x.x -= __uint_as_float(low << 16) * 1.0001f")),
]


@pytest.mark.slow
@pytest.mark.sampled(slow=7)
@pytest.mark.parametrize(("name", "what", "change"), MUTANTS, ids=[f"{n}-{c[1][:30]}" for n, _, c in MUTANTS])
def test_a_mistake_is_more_than_rounding(name, what, change):
    A, B = INPUTS[what]()
    kernel = spoiled(name, change)
    assert kernel.inputs == get(name).inputs
    with np.errstate(invalid="ignore", over="ignore"):
        assert not matches(run(kernel, A, B, backend="sim", **SMALL[name]).C, A, B, inputs=kernel.inputs)


def test_sums_left_to_tensor_cores_are_less_exact_than_the_splits_own():
    """The reason for the sums of 16: what is cut off always goes towards zero, and adds up."""
    A, B = 1 + GEN.random((32, 640), np.float32), 1 + GEN.random((640, 32), np.float32)
    long = spoiled("sgemm_split", ("float d[MT][4] = {};", "float d[MT][4]; for (int i = 0; i < MT; ++i) for (int e = 0; e < 4; ++e) "
                                   "d[i][e] = acc[i][j + h][e];"), ("acc[i][j + h][e] += d[i][e];", "acc[i][j + h][e] = d[i][e];"))
    errors = [max_error(run(k, A, B, backend="sim", **SMALL["sgemm_split"]).C, A, B) for k in (get("sgemm_split"), long)]
    assert errors[0] < tolerance(640, inputs="bf16x3")
    assert errors[1] > 3 * errors[0]


def test_what_is_rounded_is_not_excused_elsewhere():
    A, B = normal(40, 40), normal(40, 40)
    C = run("sgemm_mma", A, B, backend="sim", **SMALL["sgemm_mma"]).C
    assert not matches(C, A, B), "float32 would be closer"
    assert not matches(run("sgemm_bf16", A, B, backend="sim", **SMALL["sgemm_bf16"]).C, A, B, inputs="tf32")


@pytest.mark.sampled(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("name", some([name for name in NAMES if name not in WARPGROUPS], "sgemm_wmma", "sgemm_bf16"))
def test_shared_memory_has_no_bank_conflicts(name):
    tile = {"BM": 64, "BN": 64, "BK": 64 if get(name).stored else 32, "WM": 32, "WN": 32}
    A, B = normal(64, 64), normal(64, 64)
    result = run(name, A, B, backend="sim", **tile)
    assert [result.count("conflicts", kind) for kind in ("load", "store")] == [0, 0]
    if name != "sgemm_wmma":                   # the padding, or the exchange of pieces, is what does it
        padded = {"sgemm_mma": ("#define LDA_S (BK + 4)", "#define LDA_S BK"), "sbgemm_mma": ("#define LDA (BK + 8)", "#define LDA BK")}
        padded["sbgemm_stages"] = padded["sbgemm_mma"]
        old, new = padded.get(name, ("^ change", "^ 0 * change"))
        assert run(spoiled(name, (old, new)), A, B, backend="sim", **tile).count("conflicts", "load") > 0


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in WARPGROUPS])
def test_a_device_without_these_tensor_cores_says_so(name):
    A, B = normal(8, 8), normal(8, 8)
    for call in (lambda: run(name, A, B, backend="sim", device="T4"), lambda: footprint(name, on="T4"),
                 lambda: footprint(name, on=device("V100 SXM2"))):
        with pytest.raises(CourseError, match=r"tensor cores that take \w+, from compute capability 8\.0 on, but (T4|V100 SXM2) has 7\."):
            call()
    with pytest.raises(CompileError, match=r"from compute capability 8\.0 on"):
        compile_cuda(get(name).source, arch="sm_75")
    assert footprint(name, on="A100 40GB").occupancy.blocks >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", some([name for name in NAMES if not get(name).stored], "sgemm_mma"))
def test_check_allows_what_rounding_explains_and_finds_what_it_does_not(name):
    assert check(name, **SMALL[name]).right
    text = get(name).source
    assert check(text, like=name, **SMALL[name]).right
    wrong = text.replace("alpha * ", "1.01f * alpha * ")
    assert not check(wrong, like=name, **SMALL[name]).right
    assert not check(dataclasses.replace(get(name), inputs=""), **SMALL[name]).right or name == "sgemm_split"


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("change", [
    ("__syncthreads();                       // nobody reads before all copies", "// nobody reads before all copies"),
    ('"n"(STAGES - 2)', '"n"(STAGES - 1)'), ('asm volatile("cp.async.commit_group;");', "")])
def test_what_is_read_before_it_is_there_is_found(change):
    A, B = to_bf16(normal(40, 160)), to_bf16(normal(160, 40))
    result = run(spoiled("sbgemm_stages", change), A, B, racecheck=True, backend="sim", **SMALL["sbgemm_stages"])
    assert any(hazard.kind == "RAW" and hazard.first_copies for hazard in result.hazards)
    assert not matches(result.C, A, B, inputs="bf16")


@pytest.mark.parametrize("cols", [8, 9])
def test_rows_that_begin_anywhere_give_the_same_bits(cols):
    """At multiples of 16 bytes they are copied asynchronously, else through registers."""
    values = to_bf16(normal(40, 40 + cols)), to_bf16(normal(40, 40 + cols))
    A, B = (x[:, :40] for x in values)
    for name in ("sbgemm_mma", "sbgemm_stages"):
        result = run(name, A, B, racecheck=True, backend="sim", **SMALL[name])
        assert (result.lda * 2 % 16 == 0) == (cols == 8)
        assert result.C.tobytes() == run(name, A.copy(), B.copy(), backend="sim", **SMALL[name]).C.tobytes()
        assert result.hazards == ()
