"""A `run` that answers at once, with counters that depend on the parameters, and remembers what it was asked."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from course_lib.run import counter_name
from course_lib.widgets import compute


@pytest.fixture(scope="session")
def real():
    """Return a small result of the real `run`."""
    return compute.run("sgemm_naive", *compute.inputs(8, 8, 8)[:2], backend="sim")


@pytest.fixture
def front_door(monkeypatch, real):
    """Replace `run` by a fake; return the list of (kernel, N, parameters) that it was called with."""
    asked = []

    def run(kernel, A, B, **parameters):
        M, K, N = *A.shape, B.shape[1]
        asked.append((kernel.name, N, parameters))
        block, grid = kernel.block(**parameters), kernel.grid(M, N, **parameters)
        counters = {counter_name("requests", "load"): 1000, counter_name("sectors", "load"): 1000 * block[0]}
        return replace(
            real, kernel=kernel, parameters=kernel.check(**parameters), M=M, N=N, K=K, grid=grid, block=block,
            counters=counters, occupancy=SimpleNamespace(fraction=0.5, limiter="threads"))

    monkeypatch.setattr(compute, "run", run)
    return asked
