"""The lower bound for time: against cases done by hand, traces of the simulator, and what an H200 recorded."""

import math
from dataclasses import replace

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.data import load, readings
from course_lib.kernels import KERNELS, get
from course_lib.model import InputError, Work, busiest, l1_wavefronts, lower_bound, product_sectors
from course_lib.model.bound import MEANING
from course_lib.model.mma_rate import mma_seconds
from course_lib.run import run
from course_lib.run.bound import work_of
from course_lib.toolchain import tensor_step

H200 = device("H200")
NOTHING = Work(blocks=132, fmas=0, instructions=0, wavefronts=0, sectors=0, l1_wavefronts=0, block_sectors=0, launch_sectors=0, rounds=0,
               resident=1)
MS = 1e-3


@pytest.mark.parametrize(("what", "term", "seconds"), [
    # at 1000 MHz on 132 SMs: 132 million of each are a million for every SM
    ({"fmas": 132e6}, "fma", 0.25 * MS), ({"instructions": 132e6}, "issue", 0.25 * MS),
    ({"wavefronts": 132e6, "sectors": 132e6}, "L1", 1.25 * MS), ({"sectors": 132e6}, "L1", 0.25 * MS),
    ({"l1_wavefronts": 132e6}, "L1 banks", 1 * MS),
    ({"block_sectors": 132e6}, "L2", 132 / 160 * MS), ({"launch_sectors": 150e6}, "DRAM", 1 * MS), ({"rounds": 1000}, "latency", 0.2 * MS),
    # operands that collide: 1.2 cycles a multiply-add
    ({"fmas": 132e6, "operand_cycles": 1.2}, "operands", 0.3 * MS),
    ({"blocks": 133, "fmas": 133e6, "operand_cycles": 1.2}, "operands", 0.6 * MS),
    # three of four stages are under way
    ({"rounds": 1000, "in_flight": 3}, "latency", 0.2 / 3 * MS), ({"blocks": 133, "rounds": 1000, "in_flight": 3}, "latency", 0.4 / 3 * MS),
    # mma.sync: 321.5 and 33.4 * 10^12 operations a second on 132 SMs, whatever the clock; with 133 blocks one SM has two
    ({"tensor": 160.75e9, "mma": "tf32"}, "mma.sync", 1 * MS), ({"tensor": 33.4e9, "mma": "f64 m8n8k4"}, "mma.sync", 2 * MS),
    ({"blocks": 133, "tensor": 133e9, "mma": "f64 m16n8k16"}, "mma.sync", 2 * 2 * 132e9 / 66.9e12),
    # an H200's SM does 1024 multiply-adds a clock in TF32 and 2048 in bfloat16
    ({"tensor": 132e6 * 1024, "number": "tf32"}, "tensor", 1 * MS), ({"tensor": 132e6 * 1024, "number": "bf16"}, "tensor", 0.5 * MS),
    ({"blocks": 133, "tensor": 133e6 * 1024, "number": "tf32"}, "tensor", 2 * MS),
    # 133 blocks: one SM has two, and does 2/133 of the work
    ({"blocks": 133, "fmas": 133e6}, "fma", 0.5 * MS), ({"blocks": 133, "rounds": 1000}, "latency", 0.4 * MS),
    ({"blocks": 133, "rounds": 1000, "resident": 2}, "latency", 0.2 * MS),
    # one block alone: its port to the L2 counts, not the whole L2
    ({"blocks": 1, "block_sectors": 2e6}, "L2", 1 * MS),
])
def test_each_term_by_hand(what, term, seconds):
    found = lower_bound(replace(NOTHING, **what), H200, latency_cycles=200, clock_mhz=1000)
    assert (found.binds, found.seconds) == (term, pytest.approx(seconds))
    assert found.terms[term] == found.seconds
    assert set(found.terms) == set(MEANING) - (set() if what.get("number") else {"tensor"}) - (set() if what.get("mma") else {"mma.sync"})


def test_multiply_adds_in_double_have_no_term_for_operands():
    """Nobody measured how a DFMA reads them; nor how another generation's FFMA does."""
    double = lower_bound(replace(NOTHING, fmas=132e6, double=True, operand_cycles=2), H200, clock_mhz=1000)
    assert (double.binds, double.seconds) == ("fma", pytest.approx(0.5 * MS))
    assert "operands" not in double.terms
    for name in ("A100 40GB", "RTX 5090", "V100 SXM2"):
        assert "operands" not in lower_bound(replace(NOTHING, fmas=1e6, operand_cycles=2), device(name)).terms
    assert "mma.sync" not in lower_bound(replace(NOTHING, tensor=1e6, number="tf32", mma="tf32"), device("A100 40GB")).terms


def test_a_bound_says_how_its_blocks_fill_the_device():
    found = lower_bound(replace(NOTHING, blocks=289, resident=2), H200).waves
    assert (found.count, found.last_fill, found.busy) == (2, 25 / 264, 289 / (132 * 3))


def test_twice_the_clock_is_half_the_time_but_not_of_dram():
    work = replace(NOTHING, fmas=1e6, launch_sectors=1e6)
    slow, fast = (lower_bound(work, H200, clock_mhz=clock) for clock in (500, 1000))
    assert slow.terms["fma"] == 2 * fast.terms["fma"]
    assert slow.terms["DRAM"] == fast.terms["DRAM"]
    assert lower_bound(work, H200, bandwidth_gb_s=2400).terms["DRAM"] == 2 * fast.terms["DRAM"]


def test_slack_tells_how_near_the_second_is():
    found = lower_bound(replace(NOTHING, fmas=3e6, instructions=4e6), H200)
    assert (found.binds, found.slack) == ("issue", pytest.approx(0.75))


@pytest.mark.parametrize(("change", "words"), [
    ({"blocks": 0}, "at least one of each"), ({"resident": 0}, "at least one of each"), ({"fmas": -1}, "fmas is -1"),
    ({"sectors": math.nan}, "sectors is nan"), ({"l1_wavefronts": math.inf}, "l1_wavefronts is inf"),
    ({"operand_cycles": 0.9}, "operand_cycles is 0.9"), ({"operand_cycles": math.nan}, "operand_cycles is nan"),
    ({"in_flight": 0}, "in_flight is 0"), ({"tensor": 1.0, "mma": "int8"}, "was not measured for 'int8', only for: bf16")])
def test_what_is_no_count_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        lower_bound(replace(NOTHING, **change), H200)
    with pytest.raises(InputError, match="tensor cores of T4 take no tf32"):
        lower_bound(replace(NOTHING, tensor=1.0, number="tf32"), device("T4"))
    with pytest.raises(InputError, match="latency_cycles"):
        lower_bound(NOTHING, H200, latency_cycles=math.nan)
    with pytest.raises(InputError, match="7.0 and up"):
        lower_bound(NOTHING, device("Tesla K80"))


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("name", "values", "rows", "cols", "N"), [
    ("sgemm_naive", {}, 16, 16, 48), ("sgemm_tiled", {}, 32, 32, 64), ("sgemm_warp_tile", {}, 128, 128, 128),
    ("sgemm_1d_tile", {}, 64, 64, 64)])
def test_sectors_of_a_block_are_those_of_a_trace(name, values, rows, cols, N):
    kernel = get(name)
    A = np.ones((N, N), np.float32)
    warps = -(-math.prod(kernel.block(**values)) // 32)
    result = run(name, A, A, backend="sim", trace=[(0, w) for w in range(warps)], **values)
    touched = set()
    for record in result.trace:
        if record.space == "global":
            first = record.addresses[record.addresses >= 0]
            touched |= set((first // 32).tolist()) | set(((first + record.width - 1) // 32).tolist())
    blocks = math.prod(result.grid)
    assert blocks * len(touched) == product_sectors(rows, cols, N, N, N)[0]


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize(("name", "products"), [("sgemm_wmma", 1), ("sgemm_mma", 1), ("sgemm_bf16", 1), ("sgemm_split", 6),
                                                ("sbgemm_mma", 1), ("sbgemm_stages", 1)])
def test_the_work_of_a_kernel_for_tensor_cores(name, products):
    """Whole tiles, so that every multiply-add is of the product: as many as M N K, six times in a split; K = 104 is padded."""
    tile = {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32}
    A, B = np.ones((128, 104), np.float32), np.ones((104, 192), np.float32)
    result = run(name, A, B, backend="sim", **tile)
    found, step = work_of(result), tensor_step(name, **tile)
    assert (found.tensor, found.fmas) == (128 * 192 * 128 * products, 0)
    assert found.number == get(name).inputs.removesuffix("x3")
    turns = 6 * 4 * 4                             # blocks, warps of each, steps along K
    matrix = result.counters["smsp__inst_executed_pipe_tensor_op_hmma.sum"]
    assert matrix == turns * step.opcodes["HMMA"]
    assert matrix < found.instructions == turns * step.instructions < result.counters["smsp__inst_executed.sum"] * 2
    assert step.loads == {"sgemm_wmma": 32, "sbgemm_mma": 4, "sbgemm_stages": 0}.get(name, 8)
    assert found.rounds == pytest.approx(4, rel=0.35) or not step.loads       # asynchronous copies are no loads that a warp waits for
    assert found.launch_sectors == (128 * 104 + 104 * 192) * (2 if get(name).stored else 4) / 32 + 128 * 192 * 4 / 32
    bound = lower_bound(found, H200)
    assert bound.terms["tensor"] == pytest.approx(found.tensor / 6 / (1024 if found.number == "tf32" else 2048) / 1980e6)
    assert bound.terms["fma"] == bound.terms["operands"] == 0
    assert found.mma == found.number
    assert bound.terms["mma.sync"] == pytest.approx(mma_seconds(found.tensor / 6 * 132, found.mma)), "six blocks on 132 multiprocessors"


@pytest.mark.slow
def test_a_split_has_a_chance_against_multiply_adds_of_lanes():
    """Six products on tensor cores, with all that is done beside them, are modelled in two thirds of the time of FFMA alone."""
    A = np.ones((256, 256), np.float32)
    split, plain = (lower_bound(work_of(run(name, A, A, backend="sim")), H200) for name in ("sgemm_split", "sgemm_warp_tile"))
    assert (split.binds, split.seconds / plain.terms["fma"]) == ("mma.sync", pytest.approx(6 * 66.9 / 641.4, rel=0.01))
    assert tensor_step("sgemm_split").per_multiply_add < 0.1, "0.35 for each 32 multiply-adds of the product; FFMA needs one, and more"


def test_dram_is_the_matrices_once_as_ncu_counts():
    """Caches empty at the start; C stays in the L2, so only A and B are seen: at 1024, 8 MiB within one percent."""
    rows = readings("traffic").find(N=1024)
    assert len(rows) > 25
    for row in rows:
        size = 8 if row["kernel"].startswith("d") else 4
        _, sectors = product_sectors(16, 16, 1024, 1024, 1024, size)
        assert 32 * sectors * 2 / 3 == pytest.approx(row["dram_bytes_read"], rel=0.01)


def test_the_recorded_clocks_are_the_rates_of_the_model():
    """Two registers: four multiply-adds of warps a cycle; shared loads: one a cycle; a conflict: a cycle for each wavefront."""
    micro = readings("micro")
    assert all(row["right"] for row in micro.rows)
    full, = micro.find(kernel="micro_fma", threads=512, REGISTERS=2)
    assert full["per_warp"] == pytest.approx(1 / 4, rel=0.05)
    alone, = micro.find(kernel="micro_fma", threads=1, REGISTERS=2)
    assert alone["low"] == pytest.approx(4, abs=0.05)
    loads, = (row for row in micro.find(kernel="micro_shared", threads=1024) if "spread" not in row)
    assert loads["per_warp"] == pytest.approx(1, rel=0.02)
    one, two, four, all32 = (micro.find(kernel="micro_shared", threads=32, spread=s)[0]["low"] for s in (0, 2, 4, 32))
    assert (two - one, four - one, all32 - one) == (2, 6, 62)


PRODUCTS = ("ladder", "lee", "wang", "wong", "chien", "orders", "unrolling", "padding", "blocks")


def recorded_products():
    """Return kernel -> the recordings of its square products."""
    found = {}
    for r in (r for name in PRODUCTS for r in load(name).find(kind="product")):
        if r.kernel in KERNELS and r.state == "done" and r.M == r.K == r.N:
            found.setdefault(r.kernel, []).append(r)
    return found


def test_how_many_recordings_the_page_speaks_of():
    assert sum(map(len, recorded_products().values())) == 754


@pytest.mark.slow
@pytest.mark.sampled(slow=4)
@pytest.mark.parametrize("name", recorded_products())
def test_nothing_recorded_is_faster_than_its_bound(name):
    """At every size and with all parameters: a bound that a recording exceeds is none. Sizes are 256 to 8192, odd ones among them."""
    from tools.page import time_bound
    for r in recorded_products()[name]:
        bound = lower_bound(time_bound.work(name, r.N, tuple(sorted(r.parameters.items()))), H200, time_bound.latency())
        assert bound.seconds <= r.median_s, (r.N, r.parameters, bound.binds)


def test_no_recorded_product_on_tensor_cores_is_faster_than_mma_sync():
    """And the other bounds hold beside it: two operations for each multiply-add, six products of bfloat16 in a split."""
    rows = load("tensor").find(kind="product")
    assert {r.kernel for r in rows} == {"sgemm_wmma", "sgemm_mma", "sgemm_bf16", "sgemm_split"}
    for r in rows:
        kind, products = ("tf32" if "mma" in r.kernel else "bf16"), (6 if r.kernel == "sgemm_split" else 1)
        assert mma_seconds(products * r.N**3, kind) < r.median_s, (r.kernel, r.N)


@pytest.mark.parametrize(("width", "first", "expected"), [
    (4, 4 * np.arange(32), 1), (4, 4 * np.arange(32) + 60, 1), (4, np.zeros(32, int), 1), (4, 128 * np.arange(32), 32),
    (4, 132 * np.arange(32), 1),
    (4, 64 * np.arange(32), 16), (8, 8 * np.arange(32), 2), (16, 16 * np.arange(32), 4), (4, [], 0),
    (4, np.repeat([0, 4096 * 4], 16), 2), (4, np.repeat([0, 4095 * 4], 16), 1)])
def test_wavefronts_of_a_global_request_by_hand(width, first, expected):
    assert l1_wavefronts(first, width) == expected


def test_what_the_naive_kernel_was_recorded_at_leaves_one_hypothesis():
    """Cycles of an SM per warp and step along k: at 2047 fewer than lines of 128 bytes would need, at 2048 just above the wavefronts."""
    recorded = {r.N: r.median_s * H200.clock_mhz * 1e6 / (busiest(math.ceil(r.N / 16)**2, H200.sms) * 8 * r.N)
                for r in load("wang").find(kernel="sgemm_thread")}
    assert (round(recorded[2047], 2), round(recorded[2048], 2)) == (2.54, 3.06)
    for N, cycles in recorded.items():
        a, b = np.array([0, 4 * N]), 4 * np.arange(16)
        assert l1_wavefronts(a) + l1_wavefronts(b) == (3 if N % 32 == 0 else 2) < cycles, N


@pytest.mark.exhaustive
def test_the_page_is_what_the_tool_writes():
    from tools.page import time_bound
    text = time_bound.PAGE.read_text(encoding="utf-8")
    assert time_bound.page(text) == text


@pytest.mark.parametrize(("what", "term", "seconds"), [
    # one block does twice what each of the others does: of 133 million multiply-adds its multiprocessor has two
    ({"units": ((1, 2.0), (131, 1.0)), "fmas": 133e6}, "fma", 0.5 * MS),
    ({"units": ((1, 2.0), (131, 1.0)), "tensor": 133e9, "mma": "f64 m16n8k8"}, "mma.sync", 2 * 2 * 132e9 / 66.3e12),
    # 200 rounds on the mean, 400 in the longest block; three at a time
    ({"units": ((66, 2.0), (66, 0.0)), "rounds": 200, "in_flight": 4}, "latency", 100 * 200e-9),
    # a place for a block has two of 265 blocks, though a multiprocessor has places for two
    ({"blocks": 265, "rounds": 1000, "resident": 2}, "latency", 0.4 * MS),
    ({"blocks": 264, "rounds": 1000, "resident": 2}, "latency", 0.2 * MS),
    ({"wavefronts": 66e6, "copy_wavefronts": 132e6}, "shared", 1.5 * MS)])
def test_blocks_that_do_unequal_work_and_copies_by_hand(what, term, seconds):
    found = lower_bound(replace(NOTHING, **what), H200, latency_cycles=200, clock_mhz=1000)
    assert (found.binds, found.seconds) == (term, pytest.approx(seconds))


def test_units_are_the_work_of_all_blocks():
    with pytest.raises(InputError, match="all 132 blocks"):
        lower_bound(replace(NOTHING, units=((131, 1.0),)), H200)
    assert lower_bound(replace(NOTHING, units=((132, 0.0),), fmas=1.0), H200).terms["fma"] == 0
