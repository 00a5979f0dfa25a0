"""One task on a GPU, acted by the simulator: time, a fresh launch, an answer that is checked."""

import math

import numpy as np
import pytest

from course_lib import gpu
from course_lib.arch import DEVICES
from course_lib.bench import on_gpu, plans, task
from course_lib.bench.measure import attempt
from course_lib.data.records import Recording, dumps, loads
from course_lib.gpu import Timing
from course_lib.kernels import get
from course_lib.model.occupancy import occupancy

N = 32
SMALL_VECTORS = {"M": 4, "N": 4, "threads": 32, "blocks": 2}


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("name", "size", "parameters"), [
    ("sgemm_naive", (20, 33, 17), {}), ("dgemm_block", (20, 33, 17), {"TILE": 16}), ("sgemm_method6", (20, 33, 17), {}),
    ("sgemm_op", (20, 33, 17), {"TRANSA": 1}), ("sgemm_op", (20, 33, 17), {"TRANSA": 1, "TRANSB": 1}), ("sgemm_multiply", (20, 33, 17), {}),
    ("transpose", (20, 33, 17), {"TILE": 16}), ("matrix_sum", (20, 33, 17), {}), ("mxv_g_only", 100, SMALL_VECTORS),
    ("copy_strided", 100, {"stride": 3, "offset": 5}), ("copy_strided", 103, {"stride": 5, "offset": 8, "VEC": 4}),
    ("sbgemm_mma", (20, 33, 17), {}), ("sbgemm_tma", (20, 33, 17), {"blocks": 2}), ("sgemm_parts", (20, 33, 17), {"blocks": 2})])
def test_every_kind_of_kernel_is_measured_and_right(acted, name, size, parameters):
    record = attempt(task(name, size, parameters, backend="gpu"))
    assert (record.state, record.problem, record.correct) == ("done", "", True)
    assert (record.median_s, record.repeats, record.graph, record.device, record.driver) == (2e-3, 3, True, "NVIDIA X", "1.2")
    assert [what for what, _ in acted] == ["warm", "launch"], "checked after timing, by a launch of its own"
    assert record.gb_s > 0


def test_speeds_count_two_operations_a_multiply_add_and_each_operand_once(acted):
    record = attempt(task("sgemm_naive", (20, 33, 17), backend="gpu"))
    assert record.gflops == pytest.approx(2 * 20 * 33 * 17 / 2e-3 / 1e9)
    assert record.gb_s == pytest.approx(4 * (20 * 17 + 17 * 33 + 20 * 33) / 2e-3 / 1e9)
    vectors = attempt(task("mxv_g_only", 100, SMALL_VECTORS, backend="gpu"))
    assert vectors.gflops == pytest.approx(2 * 100 * 16 / 2e-3 / 1e9)
    assert vectors.gb_s == pytest.approx(4 * 100 * 8 / 2e-3 / 1e9)
    copied = attempt(task("copy_strided", 100, {"stride": 3}, backend="gpu"))
    assert (copied.gflops, copied.gb_s) == (None, pytest.approx(8 * 100 / 2e-3 / 1e9))


def test_a_strided_copy_of_the_wrong_elements_is_found_out(acted, monkeypatch):
    launch = gpu.launch

    def shifted(compiled, entry, grid, block, args, **options):
        args[2] -= 1
        launch(compiled, entry, grid, block, args, **options)
    monkeypatch.setattr(gpu, "launch", shifted)
    assert "not the one to copy" in attempt(task("copy_strided", 100, {"stride": 2, "offset": 1}, backend="gpu")).problem


@pytest.mark.parametrize("small", [2**27, 0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_wrong_element_and_nan_are_found_by_both_references(acted, monkeypatch, small, dtype):
    monkeypatch.setattr(on_gpu, "SMALL", small)
    there = on_gpu.ProductInputs(20, 33, 17, dtype)
    C = there.A @ there.B
    assert there.check(C) is None
    C[3, 4] += 1e-4 if dtype == "float32" else 1e-12
    assert there.check(C).startswith("1 of 660 elements")
    C[3, 4] = np.nan
    assert there.check(C).startswith("1 of 660 elements")


def test_a_reference_that_is_wrong_is_not_believed(acted, monkeypatch):
    monkeypatch.setattr(on_gpu, "SMALL", 0)

    class Wrong(np.ndarray):
        def __matmul__(self, other):
            product = np.asarray(self) @ np.asarray(other)
            product[0, 0] += other.shape[1] == 33
            return product.view(Wrong)
    there = on_gpu.ProductInputs(20, 33, 17, "float64")
    there.A = there.A.view(Wrong)
    with pytest.raises(Exception, match="itself wrong"):
        there.exact()


@pytest.mark.parametrize("timed_writes", [False, True])
def test_a_last_launch_that_writes_nothing_is_found_out(acted, monkeypatch, timed_writes):
    launch = gpu.launch

    def time_kernel(*shape, constants=None, dynamic_shared=0, **options):
        if timed_writes:
            launch(*shape, constants=constants)
        return Timing.of([1e-6], warmup=1)
    monkeypatch.setattr(gpu, "launch", lambda *shape, **options: None)
    monkeypatch.setattr(gpu, "time_kernel", time_kernel)
    record = attempt(task("sgemm_naive", N, backend="gpu"))
    assert (record.state, record.correct, record.median_s, record.gflops) == ("failed", False, None, None)
    assert "the answer is wrong" in record.problem


def test_the_library_and_a_copy(acted):
    product = attempt(task("cuBLAS", N, backend="gpu", dtype="float64"))
    assert (product.correct, product.dtype, product.gflops) == (True, "float64", pytest.approx(2 * N**3 / 1e-3 / 1e9))
    copy = attempt(task("copy", N, backend="gpu"))
    assert (copy.correct, copy.gflops, copy.gb_s) == (True, None, pytest.approx(8 * N * N / 1e-3 / 1e9))


def test_a_cold_l2_is_asked_for_and_recorded(acted):
    record = attempt(task("sgemm_naive", N, backend="gpu", l2="cold"))
    assert acted[0] == ("cold", "sgemm_naive")
    assert (record.l2, record.graph) == ("cold", False)


@pytest.mark.slow
def test_blocks_are_given_shared_memory_so_that_few_share_an_sm(acted, monkeypatch):
    given = []
    monkeypatch.setattr(gpu, "time_kernel", lambda *a, dynamic_shared, **k: given.append(dynamic_shared) or Timing.of([1.0], warmup=1))
    for one in plans.active(("sgemm_method6",), (32,), (512, 192)):
        assert attempt(one).dynamic_shared == one.dynamic_shared == given[-1]
    device = DEVICES["H200"]
    for name in plans.CHIEN:
        block, own = math.prod(get(name).block()), get(name).shared_bytes()
        blocks = dict.fromkeys(count // block for count in plans.ACTIVE)      # once each
        for wanted, one in zip(blocks, plans.active((name,), (256,)), strict=True):
            assert occupancy(device, block, 32, own + one.dynamic_shared).blocks == wanted


@pytest.mark.slow
def test_a_grid_with_blocks_to_spare_is_launched_as_asked(acted, monkeypatch):
    grids = []
    launch = gpu.launch
    monkeypatch.setattr(gpu, "launch", lambda compiled, entry, grid, *a, **k: grids.append(grid) or launch(compiled, entry, grid, *a, **k))
    own, wide = (attempt(one) for one in plans.wide_grids((100,), backend="gpu"))
    assert (own.grid, wide.grid) == ((), (7, 7, 1))
    assert grids == [(2, 2, 1), (7, 7, 1)]
    assert own.correct
    assert wide.correct
    assert own.identity != wide.identity
    assert loads(dumps(Recording("NVIDIA X", "1.2", wide.date, (own, wide)))).records[1].identity == wide.identity


def test_without_a_gpu_the_record_says_so(monkeypatch):
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(False, "no driver"))
    record = attempt(task("sgemm_naive", N, backend="gpu"))
    assert (record.state, record.problem) == ("failed", "there is no GPU to measure on: no driver")


@pytest.mark.slow
def test_everything_that_is_recorded_can_run_but_for_methods_that_need_whole_tiles():
    whole = {"sgemm_method2", "sgemm_method3", "sgemm_method4", "sgemm_method7"}
    for name, tasks in plans.everything().items():
        assert len({t.identity for t in tasks}) == len(tasks), name
        assert {t.kernel for t in tasks if t.problem} <= ({"dgemm_outputs"} if name == "blocks" else whole)
