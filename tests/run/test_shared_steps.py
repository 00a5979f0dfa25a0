"""What a step does, times the steps of each block: exactly what whole launches count, and no bound above a recorded time of the race."""

import math

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, get
from course_lib.model import lower_bound
from course_lib.model.mma_rate import mma_seconds
from course_lib.model.stream_k import sharing
from course_lib.run import copies_under_way, limits_of, run, work_of
from course_lib.run.shared_steps import NAMES, shared_work, shares_out_steps, step_counts
from course_lib.toolchain import shortest_path, tensor_step, whole_step

H200 = device("H200")
RACE = readings("race").rows
SINGLE = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32, "TM": 8, "TN": 4, "STAGES": 3, "RESIDENT": 1}
DOUBLE = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32, "SLICES": 1, "STAGES": 4, "RESIDENT": 1}


def product(name, M, N, K, over=0, **parameters):
    """Run a product; rows of A and B are `over` elements further apart than they are long."""
    kind = get(name).dtype
    a, b = ((K, M) if parameters.get("TRANSA") else (M, K)), ((N, K) if parameters.get("TRANSB") else (K, N))
    A, B = (np.ones((rows, cols + over), kind)[:, :cols] for rows, cols in (a, b))
    return run(name, A, B, backend="sim", **parameters)


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize(("name", "tile"), [
    ("sgemm_stream_k", SINGLE | {"WIDE": 1}), ("sgemm_stream_k", SINGLE | {"WIDE": 4, "TRANSA": 1}),
    ("dgemm_stream_k", DOUBLE | {"WIDE": 2}), ("dgemm_stream_k", DOUBLE | {"WIDE": 1, "TRANSB": 1}),
    ("dgemm_stream_k", DOUBLE | {"WIDE": 2, "BK": 32, "SLICES": 2})])
@pytest.mark.parametrize(("M", "N", "K", "blocks"), [(192, 128, 160, 4), (128, 192, 96, 5), (256, 256, 64, 3)])
def test_steps_times_what_a_step_does_is_what_a_launch_counts(name, tile, M, N, K, blocks):
    """Tiles without an edge, to the last sector and wavefront; some things come once per piece of a tile, per tile or per sum left."""
    over = 5 if tile["WIDE"] == 1 else 0
    whole = product(name, M, N, K, over, blocks=blocks, **tile)
    values, item = whole.parameters, np.dtype(whole.kernel.dtype).itemsize
    step, shared = step_counts(whole.kernel, values, whole.lda, whole.ldb), sharing(M, N, K, (64, 64, tile["BK"]), blocks)
    one = product(name, 64, 64, 128, over, blocks=1, **tile)
    steps, tiles, pieces = shared.tiles * shared.steps, M * N // 64**2, shared.pieces
    assert steps == tiles * K // tile["BK"]
    per_step = {"wavefronts": step.wavefronts, "copy_wavefronts": step.copy_wavefronts, "sectors": step.sectors, "ffma": 32 * step.fmas,
                "dmma": step.tensor / (16 * 8 * 8)}
    times = {"wavefronts": pieces, "copy_wavefronts": pieces, "sectors": tiles, "ffma": tiles, "dmma": tiles}
    for what, counter in NAMES.items():
        once = one.counters[counter] - 128 // tile["BK"] * per_step[what]
        handed = shared.partial * 64 * 64 * item / 32 if what == "sectors" else 0
        assert whole.counters[counter] == steps * per_step[what] + times[what] * once + handed, what
    assert shared.partial > 0 or blocks == 3
    assert step.copied == item * tile["BK"] * 128
    assert step.in_flight == tile["STAGES"] - 1


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_matrix_instructions_of_a_step_are_those_of_the_machine_code():
    for slices, depth in ((1, 16), (2, 32)):
        tile = DOUBLE | {"BK": depth, "SLICES": slices}
        turn, step = tensor_step("dgemm_stream_k", **tile), step_counts(get("dgemm_stream_k"), get("dgemm_stream_k").check(**tile))
        assert (turn.shapes, step.mma) == ({"16x8x8": turn.opcodes["DMMA"]}, "f64 m16n8k8")
        assert turn.multiply_adds == turn.opcodes["DMMA"] * 16 * 8 * 8
        assert (step.tensor, step.fmas) == (64 * 64 * depth, 0)
        assert turn.opcodes["DMMA"] < step.instructions / (4 * slices) < 16 * turn.opcodes["DMMA"]


def test_the_loop_over_tiles_is_no_step_along_k():
    step = whole_step("sgemm_stream_k", **SINGLE)
    assert (step.turns, step.rolled, step.multiply_adds) == (1, False, 8 * 4 * 16)
    assert 1 < shortest_path("sgemm_stream_k", **SINGLE).per_multiply_add < 1.4, "what ends a tile is not among a step's instructions"


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("name", "tile", "beta"), [
    ("sgemm_stream_k", SINGLE | {"WIDE": 1}, 0), ("dgemm_stream_k", DOUBLE | {"WIDE": 1}, 1)])
def test_edges_execute_as_much_and_ask_for_less(name, tile, beta):
    kernel, values = get(name), get(name).check(blocks=5, **tile)
    sizes = (100, 90, 50)
    edge = shared_work(kernel, *sizes, values, lda=50, ldb=90, beta=bool(beta))
    counted = product(name, *sizes, blocks=5, **tile)
    for what, mine in (("wavefronts", edge.wavefronts), ("copy_wavefronts", edge.copy_wavefronts), ("sectors", edge.sectors)):
        assert 0 < mine <= counted.counters[NAMES[what]], what
    M, N, K = sizes
    item = np.dtype(kernel.dtype).itemsize
    assert edge.launch_sectors == (M * K + K * N + M * N * (1 + beta)) * item / 32
    handed = 2 * sharing(M, N, K, (64, 64, 16), 5).partial * 64 * 64
    assert edge.block_sectors == (2 * M * K + 2 * K * N + M * N * (1 + beta) + handed) * item / 32


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", ["sgemm_stream_k", "dgemm_stream_k"])
def test_the_work_of_a_run_and_what_limits_it(name):
    tile = (SINGLE if name == "sgemm_stream_k" else DOUBLE) | {"WIDE": 1}
    result = product(name, 200, 130, 64, blocks=6, **tile)
    found = work_of(result)
    assert found == shared_work(result.kernel, 200, 130, 64, result.parameters, lda=64, ldb=130, device=result.device)
    assert (found.blocks, sum(count for count, _ in found.units), found.rounds) == (6, 6, 12 * 4 / 6)
    limits = limits_of(result)
    assert limits.bound.terms["latency"] == pytest.approx(8 / (tile["STAGES"] - 1) * 240 / 1980e6)
    assert limits.bound.terms.get("mma.sync", 0) == (mma_seconds(132 / 6 * 12 * 4 * 64 * 64 * 16, found.mma) if found.mma else 0)


@pytest.mark.slow
def test_copies_under_way_are_all_stages_but_one_of_the_resident_blocks():
    result = product("sgemm_stream_k", 128, 64, 128, blocks=2, **SINGLE | {"WIDE": 4})
    found = copies_under_way(result, latency_cycles=200)
    assert found["L2"].needed == pytest.approx(160 * 32 / 132 * 200), "all of the L2; one multiprocessor alone could take 64 bytes a cycle"
    assert found["memory"].needed == pytest.approx(4800e9 / 132 * 200 / 1980e6)
    assert found["L2"].had == found["memory"].had == 1 * 2 * 4 * 16 * 128, "two blocks on 132 multiprocessors: one on the busiest"
    many = copies_under_way(product("sgemm_stream_k", 64, 64, 128, blocks=265, **SINGLE | {"WIDE": 4}))
    assert many["L2"].had == min(3, result.occupancy.blocks) * 2 * 4 * 16 * 128
    assert [many[name].enough for name in ("L2", "memory")] == [many[name].had >= many[name].needed for name in ("L2", "memory")]
    with pytest.raises(CourseError, match="no traced warp waits"):
        copies_under_way(product("sgemm_tiled", 32, 32, 32))


def test_which_kernels_share_out_steps():
    assert [name for name, kernel in KERNELS.items() if shares_out_steps(kernel)] == ["sgemm_stream_k", "dgemm_stream_k"]


def row_name(row):
    return f"{row['kernel']}-{row['M']}x{row['N']}x{row['K']}-{row['TRANSA']}{row['TRANSB']}{row['beta']}"


@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("row", RACE, ids=row_name)
def test_nothing_in_the_race_is_faster_than_its_bound(row):
    """At every size, shape and order of operands, with the parameters that won: a bound that a recording exceeds is none."""
    M, N, K = (row[name] for name in "MNK")
    lda, ldb = (M if row["TRANSA"] else K), (K if row["TRANSB"] else N)
    work = shared_work(get(row["kernel"]), M, N, K, row["parameters"], lda=lda, ldb=ldb, beta=bool(row["beta"]))
    bound = lower_bound(work, H200, 239)
    assert bound.seconds < row["ours"], bound.binds
    assert set(bound.terms) >= {"mma.sync" if row["dtype"] == "float64" else "operands", "latency", "L2"}
    assert bound.terms["issue"] > 0 < bound.terms["latency"]


def test_the_library_is_not_faster_either_than_matrix_instructions():
    """cuBLAS multiplies doubles by the same instructions; these alone, without a thought of tiles, bound it."""
    doubles = [row for row in RACE if row["dtype"] == "float64"]
    shares = [mma_seconds(math.prod(row[name] for name in "MNK"), "f64 m16n8k8") / row["library"] for row in doubles]
    assert len(shares) == 39
    assert 0.8 < max(shares) < 1
