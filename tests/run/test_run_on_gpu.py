"""`run` with a GPU: first with one that is acted by the simulator, then with a real one."""

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.gpu import GpuStatus, Timing
from course_lib.kernels.user import SIGNATURE
from course_lib.run import matches, run, to_bf16

RNG = np.random.default_rng(12)
A, B, C = (RNG.standard_normal(shape).astype(np.float32) for shape in ((20, 30), (30, 40), (20, 40)))
LEAVES = 'extern "C" __global__ void leaves(' + SIGNATURE + ") { C[M * ldc + threadIdx.x] = A[0] * B[0]; }\n"


@pytest.fixture
def acted(monkeypatch):
    """Replace what touches the GPU; return the list of what was done to it."""
    done = []

    def launch(compiled, entry, grid, block, args, dynamic_shared=0, constants=None):
        done.append("launch")
        simt.launch(compiled.ptx, entry, grid, block, args, constants=constants, dynamic_shared=dynamic_shared)

    def time_kernel(compiled, entry, grid, block, args, **options):
        done.append("time")
        launch(compiled, entry, grid, block, args, **options)       # runs on the same arrays, as the real one does
        return Timing.of([1e-3, 2e-3, 3e-3], warmup=3)

    monkeypatch.delenv("COURSE_BACKEND", raising=False)
    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(True, "acted", "NVIDIA H200", (9, 0), "sm_90", "13.0"))
    monkeypatch.setattr(gpu, "to_device", np.copy)
    monkeypatch.setattr(gpu, "to_host", np.copy)
    monkeypatch.setattr(gpu, "launch", launch)
    monkeypatch.setattr(gpu, "time_kernel", time_kernel)
    return done


def test_a_gpu_that_works_is_taken_and_named(acted):
    r = run("sgemm_naive", A, B, C, alpha=2, beta=0.5)
    assert (r.backend, r.label, r.counters_label) == ("gpu", "measured on NVIDIA H200", "simulated")
    assert matches(r.C, A, B, C, alpha=2, beta=0.5), "C is fetched before timing, which adds beta C again and again"
    assert r.time.median_s == 2e-3
    assert r.gflops == pytest.approx(2 * 20 * 30 * 40 / 2e-3 / 1e9)
    assert "2.000 ms" in repr(r)
    assert "measured on NVIDIA H200" in repr(r)
    assert r.sectors_per_request() > 0


def test_a_result_that_a_tensor_map_stores_comes_back(acted, monkeypatch):
    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(True, "acted", "NVIDIA H200", (9, 0), "sm_90a", "13.0"))
    A, B = (RNG.integers(-2, 3, shape).astype(np.float32) for shape in ((20, 30), (30, 37)))
    result = run("b8gemm_clusters", A, B, counters=False, BN=128, STAGES=2, blocks=2)
    assert (result.C.shape, result.label, acted) == ((20, 37), "measured on NVIDIA H200", ["launch", "time", "launch"])
    assert np.array_equal(result.C, to_bf16(A @ B))


def test_without_counters_nothing_is_simulated(acted, monkeypatch):
    monkeypatch.setattr(simt, "launch", None)
    monkeypatch.setattr(gpu, "launch", lambda *a, **k: acted.append("launch"))
    monkeypatch.setattr(gpu, "time_kernel", lambda *a, **k: Timing.of([1.0], warmup=1))
    r = run("sgemm_naive", A, B, counters=False)
    assert acted == ["launch"]
    assert (r.counters, r.lines, r.level, r.hazards, r.counters_label) == (None, None, None, None, "")
    assert r.sectors_per_request() is None
    assert r.count("sectors") is None
    assert "sectors" not in repr(r)


def test_a_kernel_that_leaves_its_arrays_never_reaches_the_gpu(acted):
    with pytest.raises(simt.OutOfBounds):
        run(LEAVES, A, B)
    assert acted == []


def test_the_simulator_can_be_asked_for(acted):
    assert run("sgemm_naive", A, B, backend="sim").time is None
    assert acted == []


@pytest.fixture(scope="module")
def real():
    import os
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    if not gpu.probe().usable:
        pytest.skip(f"no GPU to test on: {gpu.probe().reason}")
    return gpu.probe()


@pytest.mark.parametrize("name", ["sgemm_swapped", "sgemm_naive", "sgemm_tiled"])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (-1.5, 0.75)])
def test_a_real_gpu_gives_the_simulators_bits(real, name, alpha, beta):
    there = run(name, A, B, C, alpha=alpha, beta=beta, backend="gpu")
    here = run(name, A, B, C, alpha=alpha, beta=beta, backend="sim")
    assert matches(there.C, A, B, C, alpha=alpha, beta=beta)
    np.testing.assert_array_equal(there.C, here.C)
    assert there.label == f"measured on {real.name}"
    assert 0 < there.time.low_s <= there.time.median_s <= there.time.high_s
    assert there.counters == here.counters


def test_cupy_in_cupy_out(real):
    import cupy
    wide = cupy.zeros((20, 64), "float32")
    wide[:, :30] = cupy.asarray(A)
    for backend in ("gpu", "sim"):
        r = run("sgemm_tiled", wide[:, :30], cupy.asarray(B), backend=backend)
        assert gpu.is_cupy(r.C)
        assert r.lda == 64
        assert matches(r.C.get(), A, B)
