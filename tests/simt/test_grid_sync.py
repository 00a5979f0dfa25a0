"""grid.sync() of cooperative groups: all blocks of a grid wait for each other."""

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import arch, simt
from course_lib.model.occupancy import occupancy
from course_lib.simt.host.together import blocks_on_one

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"warp_order": 3}, {"trace": [(0, 0)]},
        {"workers": 4}]
HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
DIFFUSION = HEAD + """extern "C" __global__ void f(float* a, float* b, int n, int steps) {
    auto grid = cg::this_grid();
    for (int k = 0; k < steps; ++k) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = 0.5f * a[i] + 0.25f * (a[(i + 1) % n] + a[(i + n - 1) % n]);
        grid.sync();
        float* other = a; a = b; b = other;
    }
}"""


def diffused(a, steps):
    for _ in range(steps):
        a = FLT(0.5) * a + FLT(0.25) * (np.roll(a, -1) + np.roll(a, 1))
    return a


@pytest.mark.slow
@pytest.mark.sampled(test=7)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("grid", "block"), [(3, 48), ((2, 2, 2), (8, 4, 2)), (1, 32)])
def test_every_block_sees_what_all_wrote(grid, block, how):
    a = np.random.default_rng(1).standard_normal(500).astype(FLT)
    given = a.copy()
    launch(DIFFUSION, [given, np.zeros_like(a), INT(500), INT(4)], grid=grid, block=block, **how)
    assert np.allclose(given, diffused(a, 4), rtol=1e-6, atol=0)


def test_counters_and_bits_do_not_depend_on_the_workers():
    found = []
    for workers in (1, 3):
        a = np.arange(256, dtype=FLT)
        report = launch(DIFFUSION, [a, np.zeros_like(a), INT(256), INT(3)], grid=5, block=64, workers=workers)
        found.append((a.tobytes(), report.counters))
    assert found[0] == found[1]


@pytest.mark.slow
def test_shared_memory_belongs_to_a_block_across_the_barrier():
    source = HEAD + """extern "C" __global__ void f(int* out, int* sums) {
        __shared__ int box[64];
        auto grid = cg::this_grid();
        box[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
        atomicAdd(sums, box[threadIdx.x]);
        grid.sync();
        out[grid.thread_rank()] = box[63 - threadIdx.x] + *sums + 1000000 * grid.is_valid() * (int)grid.num_blocks();
    }"""
    out, sums = np.zeros(256, INT), np.zeros(1, INT)
    launch(source, [out, sums], grid=4, block=64, racecheck=True)
    total = sum(100 * b + t for b in range(4) for t in range(64))
    assert out.tolist() == [100 * b + 63 - t + total + 4_000_000 for b in range(4) for t in range(64)]


@pytest.mark.slow
def test_a_grid_that_does_not_fit_is_refused():
    source = HEAD + 'extern "C" __global__ void __launch_bounds__(1024) f(int* out) { cg::this_grid().sync(); out[blockIdx.x] = 1; }'
    error = fault(simt.LaunchError, source, [np.zeros(300, INT)], grid=265, block=1024)
    assert (error.blocks, error.limit) == (265, 264)
    assert "grid.sync()" in str(error)
    assert "H200" in str(error)
    out = np.zeros(264, INT)
    launch(source, [out], grid=264, block=1024)
    assert out.all()


@pytest.mark.parametrize("registers", [0, 16, 33, 40, 64, 129, 168, 255])
@pytest.mark.parametrize("threads", [1, 32, 96, 256, 736, 1024])
def test_what_fits_is_what_the_occupancy_calculator_says(registers, threads):
    for shared in (0, 1, 5000, 49152, 116 * 1024, 232448):
        if registers and -(-threads // 32) * 32 * registers > 65536:
            continue
        expected = occupancy(arch.DEFAULT_DEVICE, threads, max(registers, 1), shared).blocks
        assert blocks_on_one(arch.DEFAULT_DEVICE.limits, registers, threads, shared) == expected


def test_a_block_that_does_not_come_is_a_deadlock():
    source = HEAD + """extern "C" __global__ void f(int* out) {
        if (blockIdx.x == 2) return;
        cg::this_grid().sync();
        out[blockIdx.x] = 1;
    }"""
    error = fault(simt.StepBudgetExceeded, source, [np.zeros(4, INT)], grid=4, max_steps=20_000)
    assert error.waits
    assert "every block" in str(error)


@pytest.mark.slow
def test_a_fault_names_its_block():
    source = HEAD + """extern "C" __global__ void f(int* out) {
        cg::this_grid().sync();
        out[blockIdx.x == 2 ? 4000 : blockIdx.x] = 1;
    }"""
    error = fault(simt.OutOfBounds, source, [np.zeros(4, INT)], grid=4)
    assert (error.block, error.line) == ((2, 0, 0), 5)


@pytest.mark.parametrize("number", [0, 3, 31])
def test_other_registers_of_the_driver_are_refused(number):
    source = f'extern "C" __global__ void f(int* out) {{ asm("mov.u32 %0, %%envreg{number};" : "=r"(*out)); }}'
    assert f"%envreg{number}" in str(fault(simt.UnsupportedInstruction, source, [np.zeros(1, INT)]))
