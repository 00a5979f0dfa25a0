"""What is compiled ahead is what a run asks for."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.run import launch, run, run_gather, run_transpose, translate_ahead


@pytest.fixture
def orders(monkeypatch):
    """Return what the simulator was asked to prepare."""
    found = []

    def note(source, entry, block, *, defines, arch, given_up):
        found.append((source, entry, block, defines, arch))
        return True

    monkeypatch.setattr(simt, "prepare", note)
    return found


def product(**parameters):
    run("sgemm_outputs", np.ones((64, 64), np.float32), np.ones((64, 64), np.float32), backend="sim", **parameters)


RUNS = {
    "sgemm_outputs": (product, {"TA": 32, "bx": 8, "by": 8}),
    "transpose": (lambda **p: run_transpose("transpose", np.ones((32, 32), np.float32), backend="sim", **p), {"TILE": 16}),
    "copy_strided": (lambda **p: run_gather("copy_strided", np.ones(512, np.float32), 256, backend="sim", **p), {"stride": 2}),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_prepared_is_what_runs(name, orders, monkeypatch):
    go, parameters = RUNS[name]
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    assert translate_ahead(name, parameters) is True
    launched = simt.launch
    ran = []

    def note(source, entry, grid, block, arguments, *, defines, arch, **options):
        ran.append((source, entry, block, defines, arch))
        return launched(source, entry, grid, block, arguments, defines=defines, arch=arch, **options)

    monkeypatch.setattr(simt, "launch", note)
    go(**parameters)
    assert orders == ran


@pytest.mark.parametrize("parameters", [{"TA": 33}, {"bx": 0}, {"unknown": 1}])
def test_what_cannot_run_is_not_prepared(parameters, orders):
    assert translate_ahead("sgemm_outputs", parameters) is False
    assert orders == []


def test_nothing_is_prepared_for_a_gpu(orders, monkeypatch):
    monkeypatch.setattr("course_lib.run.ahead.choose_backend", lambda: "gpu")
    assert translate_ahead("sgemm_outputs", {}) is False
    assert orders == []
    assert launch.choose_backend("sim") == "sim"
