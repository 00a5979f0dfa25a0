"""The kernels that fetch by tensor maps and multiply by warpgroups: exact counts, edges of tiles, hard numbers, mistakes."""

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, UserKernel, get
from course_lib.model.number_formats import UNSPLIT, scaled_parts
from course_lib.run import from_bf16, matches, max_error, mismatch, run, run_split, to_bf16, tolerance
from course_lib.simt import BarrierDeadlock, MbarrierMisuse

NAMES = tuple(name for name, kernel in KERNELS.items() if kernel.boxes)
SMALL = {**dict.fromkeys(("sbgemm_tma", "sbgemm_clusters"), {"BN": 128, "STAGES": 2, "blocks": 2}), "sgemm_parts": {"blocks": 2}}
GEN = np.random.default_rng(11)


def normal(*shape):
    return GEN.standard_normal(shape).astype(np.float32)


def factors(name, M, N, K):
    """Return A and B as a kernel multiplies them, so that nothing but its sums is rounded."""
    A, B = normal(M, K), normal(K, N)
    return (to_bf16(A), to_bf16(B)) if get(name).stored == "bf16" else (A, B)


@pytest.mark.parametrize("name", NAMES)
def test_products_copies_and_bytes_are_those_of_whole_tiles(name):
    """Tiles at the edges are fetched and multiplied whole, with zeros in them."""
    M, N, K, parts = 200, 135, 330, 3 if get(name).stored == "bf16x3" else 1
    result = run(name, *factors(name, M, N, K), backend="sim", racecheck=True, **SMALL[name])
    tiles, steps, products = 2 * 2, 6, {1: 1, 3: 6}[parts]
    c = result.counters
    assert c["multiply_adds_wgmma_bf16"] == c["multiply_adds_wgmma"] == tiles * steps * products * 128 * 128 * 64
    assert c["smsp__inst_executed_pipe_tensor_op_gmma.sum"] == tiles * steps * products * 8 * 4        # 8 of m64n128k16 a step, 4 warps
    boxes = 1 if name == "sbgemm_clusters" else 2         # of B, 64 columns each: half of them, for both blocks of a cluster
    assert c["smsp__sass_inst_executed_op_tma_ld.sum"] == tiles * steps * (1 + boxes)
    assert c["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == tiles * steps * parts * 2 * 64 * (128 + 64 * boxes)
    assert result.count("requests", "load") == 0, "C is not read"
    assert (result.hazards, result.stray_writes, result.ldc) == ((), 0, 136)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(127, 129, 63), (128, 256, 64), (129, 257, 65), (1, 8, 200), (400, 9, 64), (65, 130, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_at_the_edges_of_tiles(name, shape):
    """With fewer blocks than tiles, with more, and with bands that the last row of tiles does not fill."""
    A, B = factors(name, *shape)
    C = normal(shape[0], shape[1] + 3)[:, :shape[1]]
    for more in ({"blocks": 4, "GROUP": 3}, {"blocks": 10, "GROUP": 1}):
        result = run(name, A, B, C, alpha=-1.5, beta=0.5, backend="sim", racecheck=True, **SMALL[name] | more)
        assert mismatch(result.C, A, B, C, alpha=-1.5, beta=0.5, inputs=get(name).inputs) is None, shape
        assert (result.hazards, result.stray_writes) == ((), 0)


@pytest.mark.parametrize("name", NAMES)
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
    """Only their row is touched. bfloat16 has the infinities of float32; by parts NaN can take their place, but never a number."""
    A, B = normal(40, 70), normal(70, 40)
    A[5, 7] = value
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = from_bf16(to_bf16(A)) @ from_bf16(to_bf16(B))
        stored, parts = (run(name, A, B, backend="sim", **SMALL[name]).C for name in ("sbgemm_tma", "sgemm_parts"))
        right = A @ B
    assert np.array_equal(np.isnan(stored[5]), np.isnan(rounded[5]))
    assert np.array_equal(stored[5][np.isinf(rounded[5])], rounded[5][np.isinf(rounded[5])])
    assert not np.isfinite(parts[5][~np.isfinite(right[5])]).any()
    if np.isfinite(value):
        assert np.array_equal(np.isinf(parts[5]), np.isinf(right[5]))
    others = np.arange(40) != 5
    assert np.isfinite(stored[others]).all()
    assert matches(parts[others], A[others], B, inputs="bf16x3 by 64")


def test_the_largest_floats_have_three_finite_parts():
    A, B = np.ldexp(GEN.uniform(1.99, 2, (40, 70)), 127).astype(np.float32), np.ldexp(normal(70, 40), -20)
    assert matches(run("sgemm_parts", A, B, backend="sim", **SMALL["sgemm_parts"]).C, A, B, inputs="bf16x3 by 64")


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
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 0, np.finfo(np.float32).max, 2**-133, 1e-45, 3.3962e38, -3.3961e38], np.float32)
    for values in (x, np.resize(special, shape)):
        with np.errstate(invalid="ignore"):
            wanted = bf16_parts(values)
        for ld in (None, shape[1], shape[1] + 1, shape[1] + 4):
            result = run_split("split_parts", values, ld=ld, backend="sim", racecheck=True)
            assert result.out.tobytes() == wanted.tobytes()
            assert result.hazards == ()
        whole = np.isfinite(values) & (abs(values) >= 2.0**-106)
        assert np.array_equal(from_bf16(wanted).astype(float).sum(0)[whole], values[whole].astype(float))


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


COPY = {"sbgemm_tma": "tensor.2d", "sbgemm_clusters": "tensor.2d", "sgemm_parts": "tensor.3d"}
NO_EXPECT = [("barrier_expect(barrier, A_BYTES + B_BYTES);", "barrier_arrive(barrier);")]
NO_FENCE = [('asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");', "")]
EARLY = {"sbgemm_tma": [("products_wait<1>();            // those", "// those")],
         "sbgemm_clusters": [("products_wait<1>();            // those", "// those")],
         "sgemm_parts": [("products_wait<0>();            // the other", "// the other"), ("if (t == 0) barrier_arrive(used + 8 * stage);",
                                                                     "if (t == 0) barrier_arrive(used + 8 * stage); products_wait<0>();")]}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kind", "change"), [("RAW", NO_EXPECT), ("WAR", EARLY)], ids=["nothing expected", "released too early"])
def test_a_tile_that_is_used_before_it_came_or_filled_before_it_was_used(name, kind, change):
    kernel, line = spoiled(name, *(change[name] if isinstance(change, dict) else change))
    found = run(kernel, *factors(name, 70, 100, 330), backend="sim", racecheck=True, **SMALL[name]).hazards[0]
    copy, product = line(COPY[name]), line("m64n128k16")
    near = [abs(found.first_line - copy), abs(found.second_line - product)] if kind == "RAW" else [
        abs(found.first_line - product), abs(found.second_line - copy)]
    assert (found.kind, max(near) <= 2) == (kind, True), str(found)


@pytest.mark.parametrize("name", ["sbgemm_tma", "sgemm_parts"])         # in a cluster its barrier hides this from racecheck
def test_a_barrier_that_the_copies_may_not_see_yet(name):
    kernel, line = spoiled(name, *NO_FENCE)
    result = run(kernel, *factors(name, 20, 20, 70), backend="sim", racecheck=True, **SMALL[name])
    found, = result.async_findings
    assert abs(found.first_line - line("mbarrier.init")) <= 1, str(found)
    assert abs(found.second_line - line(COPY[name])) <= 1, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_phase_ends_in_an_error(name):
    """A consumer that waits for the phase before takes a tile that has not come; a producer that does waits for ever."""
    kernel, line = spoiled(name, ("barrier_wait(filled + 8 * stage, phase);", "barrier_wait(filled + 8 * stage, phase ^ 1);"))
    with pytest.raises(MbarrierMisuse, match="Its copies are still under way: nobody has waited for that phase") as caught:
        run(kernel, *factors(name, 20, 20, 330), backend="sim", **SMALL[name])
    assert abs(caught.value.line - line("arrive.expect_tx")) <= 1
    assert abs(caught.value.facts["other_line"] - line("mbarrier.init")) <= 1, "where the mbarrier was made"
    kernel, line = spoiled(name, ("barrier_wait(used + 8 * stage, phase ^ 1);", "barrier_wait(used + 8 * stage, phase);"))
    with pytest.raises(BarrierDeadlock, match="waits for phase 0 of the mbarrier .* 1 of 1 arrivals are missing"):
        run(kernel, *factors(name, 20, 20, 330), backend="sim", **SMALL[name])
