"""A front door that answers at once, with counters that depend on the parameters, and remembers what it was asked."""

from types import SimpleNamespace

import pytest

from course_lib import kernels
from course_lib.plots import NAMES
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
        counters = {NAMES["global load requests"]: 1000, NAMES["global load sectors"]: 1000 * block[0]}
        return SimpleNamespace(
            kernel=kernel, parameters=kernels.get(kernel.name).check(**parameters), M=M, N=N, K=K, grid=grid,
            block=block, counters=counters, counters_label="simulated", label="simulated", time=None, lines={},
            resources=SimpleNamespace(registers=32, static_shared_bytes=kernel.shared_bytes(**parameters)),
            occupancy=SimpleNamespace(fraction=0.5, limiter="threads"))

    monkeypatch.setattr(compute, "run", run)
    return asked
