"""A front door that answers at once, with counters that depend on the parameters, and remembers what it was asked."""

from types import SimpleNamespace

import pytest

from course_lib.run.result import RunResult, counter_name
from course_lib.widgets import compute

WAIT = 10.0


@pytest.fixture
def wait_s():
    """Return how long a background thread may take before a test fails."""
    return WAIT


@pytest.fixture
def front_door(monkeypatch):
    """Replace `run` by a fake; return the list of (kernel, N, parameters) that it was called with."""
    asked = []

    def run(kernel, A, B, **parameters):
        M, K, N = *A.shape, B.shape[1]
        asked.append((kernel.name, N, parameters))
        block, grid = kernel.block(**parameters), kernel.grid(M, N, **parameters)
        counters = {counter_name("requests", "load"): 1000, counter_name("sectors", "load"): 1000 * block[0]}
        return RunResult(
            kernel=kernel, parameters=kernel.check(**parameters), M=M, N=N, K=K, lda=K, ldb=N, ldc=N, grid=grid,
            block=block, C=None, stray_writes=0, backend="sim", label="simulated", time=None, counters=counters,
            counters_label="simulated", lines={}, level={},
            resources=SimpleNamespace(registers=32, static_shared_bytes=kernel.shared_bytes(**parameters)),
            occupancy=SimpleNamespace(fraction=0.5, limiter="threads"), hazards=None, trace=(), arrays=(), shared=())

    monkeypatch.setattr(compute, "run", run)
    return asked
