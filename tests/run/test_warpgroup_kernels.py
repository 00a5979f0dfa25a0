"""The kernels that fetch by tensor maps and multiply by warpgroups: exact counts, edges of tiles, hard numbers, mistakes."""

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, UserKernel, get
from course_lib.model.number_formats import UNSPLIT, scaled_parts
from course_lib.run import from_bf16, from_e4m3, matches, max_error, mismatch, run, run_split, to_bf16, to_e4m3, tolerance
from course_lib.simt import BarrierDeadlock, MbarrierMisuse

NAMES = tuple(name for name, kernel in KERNELS.items() if kernel.boxes)
SMALL = {**dict.fromkeys(NAMES, {"BN": 128, "STAGES": 2, "blocks": 2}), "sgemm_parts": {"blocks": 2}}
ADDING = tuple(name for name in NAMES if not get(name).result)           # beta C
CLUSTERS = ("sbgemm_clusters", "bgemm_clusters", "b8gemm_clusters")
BITS = {"bf16": to_bf16, "e4m3": to_e4m3}
GEN = np.random.default_rng(11)


def normal(*shape):
    return GEN.standard_normal(shape).astype(np.float32)


def factors(name, M, N, K):
    """Return A and B as a kernel multiplies them, so that nothing but its sums is rounded."""
    make = BITS.get(get(name).stored, np.asarray)
    return make(normal(M, K)), make(normal(K, N))


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", NAMES)
def test_products_copies_and_bytes_are_those_of_whole_tiles(name):
    """Tiles at the edges are fetched and multiplied whole, with zeros in them."""
    eights = get(name).stored == "e4m3"          # of which a row of a box has twice as many
    M, N, K, parts = 200, 135, 660 if eights else 330, 3 if get(name).stored == "bf16x3" else 1
    result = run(name, *factors(name, M, N, K), backend="sim", racecheck=True, **SMALL[name])
    tiles, steps, products = 2 * 2, 6, {1: 1, 3: 6}[parts]
    c = result.counters
    assert c["multiply_adds_wgmma_f8" if eights else "multiply_adds_wgmma_bf16"] == c["multiply_adds_wgmma"] == (
        tiles * steps * products * 128 * 128 * (128 if eights else 64))
    assert c["smsp__inst_executed_pipe_tensor_op_gmma.sum"] == tiles * steps * products * 8 * 4        # 8 of m64n128k16 a step, 4 warps
    boxes = 1 if name in CLUSTERS else 2         # of B, 64 columns each: half of them, for both blocks of a cluster
    assert c["smsp__sass_inst_executed_op_tma_ld.sum"] == tiles * steps * (1 + boxes)
    whole = tiles * steps * parts * 2 * 64 * (128 + 128)
    more = 1.15 if name in CLUSTERS else 1.06      # rows that begin inside a sector; of a multicast, inside a line
    assert whole <= c["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] < more * whole
    shifts = tiles * 2 * 4 * (2 + 128 // 4) if parts == 3 else 0        # a warp of a consumer fetches those of two rows and 32 columns
    assert result.count("requests", "load") == shifts, "C is not read"
    assert (result.hazards, result.stray_writes, result.ldc) == ((), 0, 136)


@pytest.mark.sampled(slow=7)
@pytest.mark.slow
@pytest.mark.parametrize("shape", [(127, 129, 63), (128, 256, 64), (129, 257, 65), (1, 8, 200), (400, 9, 64), (65, 130, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_at_the_edges_of_tiles(name, shape):
    """With fewer blocks than tiles, with more, and with bands that the last row of tiles does not fill."""
    A, B = factors(name, *shape)
    C, beta = (normal(shape[0], shape[1] + 3)[:, :shape[1]], 0.5) if name in ADDING else (None, 0)
    for more in ({"blocks": 4, "GROUP": 3}, {"blocks": 10, "GROUP": 1}):
        result = run(name, A, B, C, alpha=-1.5, beta=beta, backend="sim", racecheck=True, **SMALL[name] | more)
        assert mismatch(result.C, A, B, C, alpha=-1.5, beta=beta, inputs=get(name).inputs) is None, shape
        assert (result.hazards, result.stray_writes) == ((), 0)


@pytest.mark.parametrize("name", ADDING)
def test_c_is_not_read_when_beta_is_0(name):
    A, B = factors(name, 30, 33, 70)
    C = np.full((30, 33), np.nan, np.float32)
    assert matches(run(name, A, B, C, backend="sim", **SMALL[name]).C, A, B, inputs=get(name).inputs)
    assert np.isnan(run(name, A, B, C, beta=1, backend="sim", **SMALL[name]).C).all()


@pytest.mark.parametrize(("name", "wrong", "said"), [
    ("sbgemm_tma", {"BN": 192}, "BN = 192: BN can be 128 or 256"),
    ("sbgemm_tma", {"STAGES": 5}, "at most 232448"),
    ("sbgemm_tma", {"STAGES": 1}, "STAGES = 1 is too small"),
    ("sbgemm_clusters", {"blocks": 3}, "blocks = 3: take an even number"),
    ("bgemm_clusters", {"STAGES": 4}, "STAGES = 4 stages of tiles take 263168 bytes"), ("b8gemm_clusters", {"blocks": 3}, "even number"),
    ("bgemm_clusters", {"beta": 1, "C": np.zeros((8, 8), np.float32)}, "stores alpha A B as bfloat16 and adds nothing to it: give no C"),
    ("sgemm_parts", {"STAGES": 3}, "STAGES = 3 stages of tiles take 295936 bytes"),
    ("sgemm_parts", {"BN": 128}, "BN is no parameter"), ("sgemm_parts", {"blocks": 0}, "too small")])
def test_parameters_that_cannot_run_are_refused(name, wrong, said):
    with pytest.raises(CourseError, match=said):
        run(name, normal(8, 8), normal(8, 8), backend="sim", **wrong)


@pytest.mark.parametrize("name", NAMES)
def test_other_devices_are_refused(name):
    for other in ("T4", "A100 40GB"):
        with pytest.raises(CourseError, match=r"which compute capability 9\.0 alone has, but .* has [78]\."):
            run(name, normal(8, 8), normal(8, 8), backend="sim", device=other)
    with pytest.raises(CourseError, match=r"alone has, but B200 has 10\.0"):
        get(name).refuse((10, 0), "B200")
    get(name).refuse(device("H200").cc)
    assert [get(name).runs_on(cc) for cc in ((8, 0), (9, 0), (10, 0))] == [False, True, False]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, np.finfo(np.float32).max])
def test_numbers_at_the_end_of_the_scale(value):
    """Only their row is touched. bfloat16 has the infinities of float32; by parts they are what SGEMM makes of them."""
    A, B = normal(40, 70), normal(70, 40)
    A[5, 7] = value
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = from_bf16(to_bf16(A)) @ from_bf16(to_bf16(B))
        stored, parts = (run(name, A, B, backend="sim", **SMALL[name]).C for name in ("sbgemm_tma", "sgemm_parts"))
        right = A @ B
    assert np.array_equal(np.isnan(stored[5]), np.isnan(rounded[5]))
    assert np.array_equal(stored[5][np.isinf(rounded[5])], rounded[5][np.isinf(rounded[5])])
    assert np.array_equal(parts[5][~np.isfinite(right[5])], right[5][~np.isfinite(right[5])], equal_nan=True)
    assert np.isfinite(parts[5][np.isfinite(right[5])]).all()
    others = np.arange(40) != 5
    assert np.isfinite(stored[others]).all()
    assert matches(parts[others], A[others], B, inputs="bf16x3 by 64")


def test_the_largest_floats_have_three_finite_parts():
    A, B = np.ldexp(GEN.uniform(1.99, 2, (40, 70)), 127).astype(np.float32), np.ldexp(normal(70, 40), -20)
    assert matches(run("sgemm_parts", A, B, backend="sim", **SMALL["sgemm_parts"]).C, A, B, inputs="bf16x3 by 64")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_long_sums_left_to_tensor_cores_are_less_exact():
    """The reason for sums of a step of their own; docs/race.md has these two errors."""
    gen = np.random.default_rng(8)
    A, B = 1 + gen.random((64, 1280), np.float32), 1 + gen.random((1280, 64), np.float32)
    long, _ = spoiled("sgemm_parts", ("multiply(d, tile", "multiply(c, tile"), ("c[i] += d[i];", ";"))
    errors = [max_error(run(kernel, A, B, backend="sim", **SMALL["sgemm_parts"]).C, A, B) for kernel in ("sgemm_parts", long)]
    assert [f"{error:.1e}" for error in errors] == ["2.9e-07", "5.4e-06"]
    assert errors[0] < tolerance(1280, inputs="bf16x3 by 64")


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (5, 37), (41, 64), (300, 4)])
def test_the_split_has_the_bits_of_its_twin(shape):
    """Of whatever 32 bits there are: infinities, NaN, zeros of both signs, numbers below all bfloat16 and beyond the last."""
    x = GEN.integers(0, 2**32, (shape[0], shape[1] + 3), dtype=np.uint32).view(np.float32)[:, :shape[1]]
    small, large = np.float32([-0.0, 0, 2**-133, 1e-45, 2**-51, -3]), np.float32([np.finfo(np.float32).max, -3.3961e38, 2**33])
    for values in (x, *(np.resize(each, shape) for each in (small, large, np.float32([np.inf, -np.inf, np.nan, 1, 0])))):
        for ld, axis in ((None, 0), (shape[1], 1), (shape[1] + 1, 0), (shape[1] + 4, 1)):
            wanted, shifts = scaled_parts(values, axis)
            result = run_split("split_parts", values, by_columns=axis == 0, ld=ld, backend="sim", racecheck=True)
            assert (result.out.tobytes(), result.shifts.tobytes(), result.hazards) == (wanted.tobytes(), shifts.tobytes(), ())
            whole = np.broadcast_to(np.expand_dims(shifts != UNSPLIT, axis), shape)
            powers = np.expand_dims(np.ldexp(1.0, -np.where(shifts == UNSPLIT, 0, shifts)), axis)
            assert np.array_equal((from_bf16(wanted).astype(float).sum(0) * powers)[whole], values[whole].astype(float))


def test_what_is_split_is_not_too_wide():
    """98 binades of a line, and 0, are split; with one more, an infinity or NaN, a line is left as it is."""
    lines = np.ldexp(np.float32([[1, 2, 0], [1, 2, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 0, 0]]),
                     [[0, 97, 0], [0, 98, 0], [0, 0, 0], [0, 127, 0], [0, 0, 0], [-149, 0, 0]])
    lines[4, 1] = np.nan
    for axis, given in ((1, lines), (0, lines.T)):
        assert scaled_parts(given, axis)[1].tolist() == [47 - 98, UNSPLIT, 0, UNSPLIT, UNSPLIT, 126]


def of_sizes(share, *shape):
    """Return numbers between about 2^-30 and 2^30, a share of which is not 0."""
    return np.where(GEN.random(shape) < share, normal(*shape) * 2.0 ** GEN.integers(-30, 31, shape), 0).astype(np.float32)


def with_some(X, *values):
    X = X.copy()
    X.flat[GEN.integers(0, X.size, 3 * len(values))] = np.float32(3 * values)
    return X


M, N, K = 37, 45, 300
HARD = {
    "of all sizes": lambda: tuple((normal(*s) * 2.0 ** GEN.integers(-60, 60, s)).astype(np.float32) for s in ((M, K), (K, N))),
    "a size for each row and column": lambda: (np.ldexp(normal(M, K), GEN.integers(-50, 50, (M, 1))),
                                               np.ldexp(normal(K, N), GEN.integers(-50, 50, (1, N)))),
    "cancelling": lambda: (np.repeat(normal(M, K // 2), 2, 1) * np.resize(np.float32([1, -1]), K),
                           np.repeat(normal(K // 2, N), 2, 0) * np.resize(np.float32([1, 1 + 2**-20]), K)[:, None]),
    "denormals": lambda: (normal(M, K) * np.float32(2.0**-132), normal(K, N)),
    "denormals among others": lambda: (np.where(GEN.random((M, K)) < 0.5, np.float32(2.0**-130), 1) * normal(M, K), normal(K, N)),
    "products below all floats": lambda: (normal(M, K) * np.float32(2.0**-70), normal(K, N) * np.float32(2.0**-70)),
    "huge": lambda: (normal(M, K) * np.float32(2.0**100), normal(K, N) * np.float32(2.0**21)),
    "an infinity": lambda: (with_some(normal(M, K), np.inf, -np.inf), with_some(normal(K, N), np.inf, 0)),
    "no number": lambda: (with_some(normal(M, K), np.nan), with_some(normal(K, N), np.finfo(np.float32).max)),
}


@pytest.mark.sampled(test=4, slow=9)
@pytest.mark.parametrize("what", HARD)
def test_parts_are_no_less_exact_than_float32(what):
    """On the data that floats are bad at; and what is no number, or infinite, is so in the same places."""
    A, B = HARD[what]()
    with np.errstate(invalid="ignore", over="ignore"):
        plain, parts = (run(name, A, B, backend="sim", **more).C for name, more in (("sgemm_naive", {}), ("sgemm_parts", {"blocks": 2})))
        right, size = A.astype(float) @ B.astype(float), np.abs(A).astype(float) @ np.abs(B).astype(float)
        errors = [np.abs(C - right) / size for C in (parts, plain)]
    finite = np.isfinite(plain)
    assert np.array_equal(parts[~finite], plain[~finite], equal_nan=True)
    largest = [error[finite].max() for error in errors]
    assert largest[0] <= largest[1], largest


@pytest.mark.parametrize("share", [0.1, 1])
def test_few_terms_lose_a_little_more_than_in_float32(share):
    """Where few terms make up most of an element; what docs/race.md says of it."""
    A, B = of_sizes(share, M, K), of_sizes(share, K, N)
    assert (scaled_parts(A, 1)[1] != UNSPLIT).mean() > 0.9
    size = np.abs(A).astype(float) @ np.abs(B)
    found = [(np.abs(run(name, A, B, backend="sim", **more).C - A.astype(float) @ B) / np.where(size, size, 1)).max()
             for name, more in (("sgemm_naive", {}), ("sgemm_parts", {"blocks": 2}))]
    assert found[1] < 3 * found[0]
    assert found[1] < 2**-20


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (-2.5, 0)])
def test_a_line_that_is_not_split_is_what_sgemm_makes_of_it(alpha, beta):
    """Bit for bit, beside elements that are split, and C is added to both."""
    A, B, C = normal(20, 70), normal(70, 33), normal(20, 33)
    A[3, 5], B[9, 31] = 2.0**110, 2.0**-120
    plain, parts = (run(name, A, B, C, alpha=alpha, beta=beta, backend="sim", racecheck=True, **more)
                    for name, more in (("sgemm_naive", {}), ("sgemm_parts", {"blocks": 2})))
    assert parts.hazards == ()
    assert np.array_equal(parts.C[3], plain.C[3])
    assert np.array_equal(parts.C[:, 31], plain.C[:, 31])
    assert not np.array_equal(parts.C, plain.C)
    assert matches(parts.C, A, B, C, alpha=alpha, beta=beta, inputs="bf16x3 by 64")


def test_rows_of_parts_do_not_overlap():
    with pytest.raises(CourseError, match="rows of the parts begin 4 elements apart, but each has 5"):
        run_split("split_parts", normal(3, 5), ld=4)


def spoiled(name, *changes):
    """Return the kernel with changes to its text, and the first line that has each of some words."""
    text = get(name).source
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    lines = text.splitlines()
    return UserKernel.from_source(text, like=name), lambda word: next(i for i, line in enumerate(lines, 1) if word in line)


COPY = {**dict.fromkeys(NAMES, "tensor.2d"), "sgemm_parts": "tensor.3d"}
NO_EXPECT = [("barrier_expect(barrier, A_BYTES + B_BYTES);", "barrier_arrive(barrier);")]
NO_FENCE = [('asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");', "")]
EARLY = {**dict.fromkeys(NAMES, [("products_wait<1>();            // those", "// those")]),
         "sbgemm_wide_stores": [("products_wait<1>();                // those", "// those")],
         "sgemm_parts": [("products_wait<0>();            // the other", "// the other"), ("if (t == 0) barrier_arrive(used + 8 * stage);",
                                                                     "if (t == 0) barrier_arrive(used + 8 * stage); products_wait<0>();")]}


@pytest.mark.sampled(slow=4)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kind", "change"), [("RAW", NO_EXPECT), ("WAR", EARLY)], ids=["nothing expected", "released too early"])
def test_a_tile_that_is_used_before_it_came_or_filled_before_it_was_used(name, kind, change):
    kernel, line = spoiled(name, *(change[name] if isinstance(change, dict) else change))
    found = run(kernel, *factors(name, 70, 100, 660), backend="sim", racecheck=True, **SMALL[name]).hazards[0]
    copy, product = line(COPY[name]), line("m64n128k32" if get(name).stored == "e4m3" else "m64n128k16")
    near = [abs(found.first_line - copy), abs(found.second_line - product)] if kind == "RAW" else [
        abs(found.first_line - product), abs(found.second_line - copy)]
    assert (found.kind, max(near) <= 2) == (kind, True), str(found)


@pytest.mark.parametrize("name", ["sbgemm_tma", "sbgemm_clusters"])
def test_a_fence_behind_the_init_is_needed_where_the_barrier_behind_it_is_relaxed(name):
    kernel, line = spoiled(name, *NO_FENCE)
    found = run(kernel, *factors(name, 20, 20, 70), backend="sim", racecheck=True, **SMALL[name]).hazards
    assert {h.kind for h in found} == ({"RAW"} if name == "sbgemm_clusters" else set())
    assert all(abs(h.first_line - line("mbarrier.init")) <= 1 for h in found)


@pytest.mark.sampled(slow=2)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_phase_ends_in_an_error(name):
    """A consumer that waits for the phase before takes a tile that has not come; a producer that does waits for ever."""
    kernel, line = spoiled(name, ("barrier_wait(filled + 8 * stage, phase);", "barrier_wait(filled + 8 * stage, phase ^ 1);"))
    if name == "sbgemm_wide_stores":           # whose thread that orders copies comes to that barrier only when its own products have run
        found = run(kernel, *factors(name, 20, 20, 660), backend="sim", racecheck=True, **SMALL[name])
        assert found.hazards[0].kind == "RAW"
        assert abs(found.hazards[0].first_line - line(COPY[name])) <= 2
    else:
        with pytest.raises(MbarrierMisuse, match="Its copies are still under way: nobody has waited for that phase") as caught:
            run(kernel, *factors(name, 20, 20, 660), backend="sim", **SMALL[name])
        assert abs(caught.value.line - line("arrive.expect_tx")) <= 1
        assert abs(caught.value.facts["other_line"] - line("mbarrier.init")) <= 1, "where the mbarrier was made"
    which = "next_" if name == "sbgemm_wide_stores" else ""
    kernel, line = spoiled(name, (f"barrier_wait(used + 8 * {which}stage, {which}phase ^ 1);",
                                  f"barrier_wait(used + 8 * {which}stage, {which}phase);"))
    with pytest.raises(BarrierDeadlock, match=r"waits for phase 0 of the mbarrier .* (1 of 1|2 of 2) arrivals are missing"):
        run(kernel, *factors(name, 20, 20, 660), backend="sim", **SMALL[name])


@pytest.mark.parametrize("name", ["bgemm_clusters", "b8gemm_clusters"])
def test_c_of_bfloat16_is_the_nearest_to_exact_sums(name):
    """Sums of the whole numbers from -4 to 4 are exact, and then rounded once; C's rows end where they should."""
    A, B = (GEN.integers(-4, 5, shape).astype(np.float32) for shape in ((150, 300), (300, 141)))
    result = run(name, A, B, alpha=-0.5, backend="sim", racecheck=True, **SMALL[name])
    assert (result.C.dtype, result.ldc, result.hazards, result.async_findings, result.products) == (np.uint16, 144, (), (), ())
    assert np.array_equal(result.C, to_bf16(-0.5 * (A @ B)))
    bits = [BITS[get(name).stored](x) for x in (A, B)]
    assert np.array_equal(run(name, *bits, alpha=-0.5, backend="sim", **SMALL[name]).C, result.C)
    with pytest.raises(CourseError, match=r"A is float64, but this kernel multiplies (bfloat16|E4M3): give float32"):
        run(name, A.astype(float), B, backend="sim", **SMALL[name])


def test_fp8_is_what_the_numbers_in_it_make():
    """B may come by rows or by columns; numbers beyond 448 are the largest."""
    A, B = normal(40, 200) * 200, normal(200, 30)
    eights = to_e4m3(A), to_e4m3(B)
    found = [run("b8gemm_clusters", *given, backend="sim", **SMALL["b8gemm_clusters"]).C for given in (
        (A, B), eights, (eights[0], np.asfortranarray(eights[1])))]
    assert all(np.array_equal(C, found[0]) for C in found)
    assert (abs(A) > 464).any()
    assert matches(found[0], from_e4m3(eights[0]), from_e4m3(eights[1]), inputs="e4m3")
    assert not matches(found[0], from_e4m3(eights[0]), from_e4m3(eights[1]) * np.float32(1.1), inputs="bf16")


def test_a_tile_that_is_stored_before_it_is_written():
    """Without the fence the copy may read what was in shared memory before."""
    kernel, line = spoiled("bgemm_clusters", ('asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', ""))
    found = run(kernel, *factors("bgemm_clusters", 20, 20, 70), backend="sim", racecheck=True, **SMALL["bgemm_clusters"]).async_findings
    assert any(abs(one.first_line - line("stmatrix.sync")) <= 1 for one in found), found


def test_a_buffer_that_is_written_while_the_tile_before_leaves():
    kernel, line = spoiled("bgemm_clusters", ("if (t == 0) stores_read();         // that one", "// that one"))
    hazards = run(kernel, *factors("bgemm_clusters", 600, 200, 70), backend="sim", racecheck=True, **SMALL["bgemm_clusters"]).hazards
    assert any(h.kind == "WAR" and abs(h.first_line - line("tensor.2d.global")) <= 1 for h in hazards), hazards
