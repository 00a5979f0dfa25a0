"""`run_cpu`: what it tells, what it refuses, how it measures, programs of the reader's own."""

import re

import numpy as np
import pytest
from cpu_tools import matrices, needs_c

from course_lib.errors import CourseError
from course_lib.kernels import CPU_KERNELS
from course_lib.run import mismatch, resolve_cpu, run_cpu
from course_lib.run.stopwatch import time_call
from course_lib.toolchain import CompileError, CrashedError

LOOPS = """for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j);"""
FUNCTION = """#include <stdio.h>
void mine(int M, int N, int K, REAL alpha, const REAL* A, int lda, const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            REAL sum = 0;
            for (int k = 0; k < K; ++k) sum += A[i * lda + k] * B[k * ldb + j];
            C[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * ldc + j]);
        }
    /* more */
}
"""


@pytest.mark.parametrize("name", ["python_ijk", "blas", pytest.param("gemm_packed", marks=needs_c)])
def test_a_result_tells_what_ran_where_and_how_fast(name):
    A, B, _ = matrices(20, 30, 40)
    result = run_cpu(name, A, B, budget_s=0.01)
    assert result.label.startswith("measured on ")
    assert result.flops == 2 * 20 * 30 * 40
    assert result.time.low_s <= result.time.median_s <= result.time.high_s
    assert result.time.repeats >= 3
    assert result.gflops == pytest.approx(result.flops / result.time.median_s / 1e9)
    assert result.threads in (1, None)
    text = repr(result)
    for words in (name, "20 × 30, K = 40, float32, measured on", "built by", "GFLOP/s"):
        assert words in text
    assert "GFLOP/s" in result._repr_html_()
    assert run_cpu(name, A, B, timed=False).gflops is None


def test_the_library_tells_its_name_and_threads():
    A, B, _ = matrices(8, 8, 8)
    result = run_cpu("blas", A, B, threads=2, timed=False)
    assert result.threads in (2, None)
    assert re.match(rf"NumPy {re.escape(np.__version__)}, \w+", result.built_by)


@pytest.mark.parametrize(("arrays", "words"), [
    ((np.ones((2, 3), np.int32), np.ones((3, 2), np.float32)), "A is int32, but this kernel computes in float32"),
    ((np.ones((2, 3)), np.ones((3, 2), np.float32)), "B is float32, but this kernel computes in float64"),
    ((np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)), "B must have as many rows as A has columns, 3"),
    (([[1]], [[1]]), "A is a list"),
])
def test_wrong_arrays_are_named(arrays, words):
    with pytest.raises(CourseError, match=words):
        run_cpu("blas", *arrays)


def test_plain_python_refuses_what_takes_minutes():
    A = np.ones((1024, 1024), np.float32)
    with pytest.raises(CourseError, match="take N up to 512"):
        run_cpu("python_ijk", A, A)


@needs_c
def test_beta_is_applied_once_however_often_it_is_measured():
    A, B, C = matrices(9, 8, 7)
    result = run_cpu("gemm_ikj", A, B, C, beta=3, budget_s=0.01)
    assert mismatch(result.C, A, B, C, beta=3) is None
    assert run_cpu("blas", A, B, C, beta=3, budget_s=0.01).time.launches == 1


@needs_c
@pytest.mark.parametrize("text", [LOOPS, FUNCTION, FUNCTION.replace("REAL", "float")])
@pytest.mark.parametrize("pads", [(0, 0, 0), (3, 0, 5)])
def test_a_program_of_ones_own(text, pads):
    A, B, C = matrices(19, 17, 23, pads=pads)
    result = run_cpu(text, A, B, C, alpha=-2, beta=0.5, budget_s=0.01)
    assert mismatch(result.C, A, B, C, alpha=-2, beta=0.5) is None
    assert result.stray_writes == 0
    assert (result.time.repeats, result.warnings) != (0, None)


@needs_c
def test_a_program_that_prints_is_run_once_and_its_text_shown():
    A, B, _ = matrices(3, 4, 5)
    result = run_cpu(FUNCTION.replace("/* more */", 'printf("%d rows", M);'), A, B)
    assert (result.printed, result.time) == ("3 rows", None)
    assert mismatch(result.C, A, B) is None
    assert "3 rows" in repr(result)


@needs_c
@pytest.mark.parametrize(("text", "kind", "words"), [
    (LOOPS.replace("A(i, k)", "A(i, q)"), CompileError, "line 4: error"),
    ("C(1 << 27, 1 << 27) = 1;", CrashedError, "your program was stopped: it read or wrote memory that is not its own"),
    ("void f(int M, float* C) { }", CourseError, "f takes other arguments"),
])
def test_a_wrong_program_is_told_and_does_no_harm(text, kind, words):
    A, B, _ = matrices(3, 4, 5)
    with pytest.raises(kind, match=re.escape(words)):
        run_cpu(text, A, B)


@needs_c
def test_a_write_between_the_rows_shows():
    A, B, C = matrices(3, 4, 5, pads=(0, 0, 2))
    result = run_cpu(LOOPS + "\nC(0, N) = 1;", A, B, C, timed=False)
    assert result.stray_writes == 1
    assert "1 elements between the rows" in repr(result)


def test_without_a_compiler_python_and_the_library_still_run(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    A, B, _ = matrices(3, 4, 5)
    for name, kernel in CPU_KERNELS.items():
        if kernel.kind == "c":
            with pytest.raises(CourseError, match="no C compiler is found"):
                run_cpu(name, A, B)
        else:
            assert mismatch(run_cpu(name, A, B, timed=False).C, A, B) is None


def test_names_are_resolved():
    assert resolve_cpu(CPU_KERNELS["blas"]) is CPU_KERNELS["blas"]
    assert resolve_cpu(LOOPS).entry == "own_loops"
    with pytest.raises(CourseError, match="no CPU program 'sgemm_tiled'"):
        resolve_cpu("sgemm_tiled")


class Clock:
    """Time that passes only while the work runs."""

    def __init__(self, *costs):
        self.now, self.costs, self.calls = 0.0, list(costs), 0

    def work(self):
        self.now += self.costs[min(self.calls, len(self.costs) - 1)]
        self.calls += 1

    def read(self):
        return self.now


def test_the_first_slow_call_is_warm_up_and_short_calls_are_bundled():
    clock = Clock(0.5, 2**-17)
    timing = time_call(clock.work, clock=clock.read)
    assert (timing.warmup, timing.launches, timing.repeats) == (2, 132, 25)
    assert timing.median_s == 2**-17
    assert clock.calls == 2 + 25 * 132


def test_long_calls_are_few():
    clock = Clock(2.0)
    assert (time_call(clock.work, clock=clock.read).repeats, clock.calls) == (3, 3)
    clock = Clock(0.3)
    assert (time_call(clock.work, clock=clock.read).repeats, clock.calls) == (5, 7)


def test_what_a_call_changes_is_put_back_before_each_and_costs_nothing():
    clock, back = Clock(1e-5), []

    def put_back():
        clock.now += 1.0
        back.append(clock.calls)
    timing = time_call(clock.work, put_back, clock=clock.read)
    assert (timing.launches, timing.median_s) == (1, pytest.approx(1e-5))
    assert back == list(range(clock.calls))
