"""A GPU that is acted by the simulator, so that what a sweep does on a GPU is tested everywhere."""

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.bench import on_gpu
from course_lib.gpu import GpuStatus, Timing


@pytest.fixture
def acted(monkeypatch):
    """Replace what touches the GPU; return the list of what was done to it."""
    done = []

    def launch(compiled, entry, grid, block, args, dynamic_shared=0, constants=None):
        done.append(("launch", entry))
        simt.launch(compiled.ptx, entry, grid, block, args, constants=constants, dynamic_shared=dynamic_shared)

    def time_kernel(compiled, entry, grid, block, args, *, constants=None, dynamic_shared=0, budget_s=1.0, cold=False):
        done.append(("cold" if cold else "warm", entry))
        return Timing.of([1e-3, 2e-3, 3e-3], warmup=3, graph=not cold)

    def time_product(A, B, C, **options):
        C[...] = A @ B
        return Timing.of([1e-3] * 5, warmup=3)

    def time_copy(source, target, **options):
        target[...] = source
        return Timing.of([1e-3] * 5, warmup=3)

    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(True, "acted", "NVIDIA X", (9, 0), "sm_90", "13.0", "1.2"))
    monkeypatch.setattr(gpu, "to_device", np.copy)
    monkeypatch.setattr(gpu, "to_host", np.copy)
    for name, act in (("launch", launch), ("time_kernel", time_kernel), ("time_product", time_product), ("time_copy", time_copy)):
        monkeypatch.setattr(gpu, name, act)
    on_gpu.inputs.cache_clear()
    yield done
    on_gpu.inputs.cache_clear()
