"""The same programs with real CuPy: on a machine with a GPU they make what the stand-in makes. Skipped elsewhere, with the reason."""

import os

import numpy as np
import pytest
from cupy_programs import PROGRAMS, run

from course_lib import cp
from course_lib.errors import CourseError
from course_lib.gpu import probe


@pytest.fixture
def cupy(monkeypatch):
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    if not probe().usable:
        pytest.skip(f"no GPU to test on: {probe().reason}")
    return pytest.importorskip("cupy")


@pytest.mark.parametrize("name", PROGRAMS)
def test_cupy_makes_what_the_stand_in_makes(cupy, monkeypatch, name):
    real, ours = run(PROGRAMS[name], cupy), run(PROGRAMS[name], cp)
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    simulated = run(PROGRAMS[name], cp)
    for made in (ours, simulated):
        assert made.keys() == real.keys()
        for what, wanted in real.items():
            np.testing.assert_array_equal(made[what], wanted, what)
            assert made[what].dtype == wanted.dtype, what


def test_on_a_gpu_the_names_are_cupys_own_and_a_launch_has_counters(cupy):
    assert cp.asarray is cupy.asarray
    assert cp.matmul is cupy.matmul
    run(PROGRAMS["product"], cp)
    found = cp.last_launch()
    assert found.label == f"run on {probe().name}"
    assert found.counters_label == "simulated"
    assert found.count("sectors") > 0


def test_on_a_gpu_the_same_mistakes_are_refused_before_they_reach_it(cupy):
    kernel = cp.RawKernel('extern "C" __global__ void f(int n, float* y) { y[threadIdx.x] = n; }', "f")
    y = cp.zeros(8, np.float32)
    for args, says in (((8, y), "Python int"), ((np.int32(8), cp.zeros(8)), "holds float64"), ((np.int32(8), y.get()), "NumPy array"),
                       ((np.int32(8), cp.zeros((8, 2), np.float32)[:, 0]), "without gaps")):
        with pytest.raises(CourseError, match=says):
            kernel((1,), (8,), args)
    with pytest.raises(CourseError, match=r"y\[8\]"):
        kernel((1,), (9,), (np.int32(8), y))
    kernel((1,), (8,), (np.int32(8), y))
    assert (y.get() == 8).all(), "the GPU is still there"


def test_a_launch_of_many_threads_is_not_simulated(cupy):
    y = cp.zeros(1 << 21, np.float32)
    cp.RawKernel('extern "C" __global__ void f(float* y) { y[blockIdx.x * 256 + threadIdx.x] = 1; }', "f")((1 << 13,), (256,), (y,))
    assert (y.get() == 1).all()
    assert cp.last_launch().counters is None
    assert "the simulator does not run beside" in repr(cp.last_launch())


def test_the_program_to_take_home_runs_with_real_cupy(cupy, capsys):
    source = PROGRAMS["product"].split('r"""')[1].split('"""')[0]
    n, A = np.int32(64), cp.asarray(np.eye(64, dtype=np.float32))
    exec(cp.take_home(source, (4, 4), (16, 16), (n, n, n, np.float32(1.5), A, A, cp.zeros((64, 64), np.float32))).text, {})
    assert "ms per launch" in capsys.readouterr().out
