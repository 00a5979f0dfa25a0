"""Volkov's kernel and Chien's methods: column-major, with the sizes that each supports."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.kernels import KERNELS, get
from course_lib.run import mismatch, run

METHODS = [name for name, kernel in KERNELS.items() if kernel.layout == "column"]
WHOLE = [name for name in METHODS if get(name).check()["GUARD"] == 0]


def columns(rows, cols, pad=0):
    """A column-major matrix whose columns are `pad` elements apart."""
    rng = np.random.default_rng([rows, cols, pad])
    return rng.standard_normal((cols, rows + pad)).astype(np.float32)[:, :rows].T


def unit(name):
    p = get(name).check()
    return p["THREADS"] * p["VECTORS"] * p["GAP"], p["COLS"], p["BK"]


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tiles(name):
    rows, cols, depth = unit(name)
    A, B, C = columns(rows, 2 * depth, 3), columns(2 * depth, 2 * cols, 1), columns(rows, 2 * cols, 5)
    result = run(name, A, B, C, alpha=-1.5, beta=0.5, backend="sim", racecheck=True)
    assert (result.lda, result.ldb, result.ldc) == (rows + 3, 2 * depth + 1, rows + 5)
    assert mismatch(result.C, A, B, C, alpha=-1.5, beta=0.5) is None
    assert result.stray_writes == 0
    assert result.hazards == ()


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(("axis", "words"), [(0, "M must be a multiple"), (1, "N must be a multiple"), (2, "K must be a multiple")])
def test_a_cut_tile_is_refused_with_what_to_do(name, axis, words):
    M, N, K = (size + (i == axis) for i, size in enumerate(unit(name)))
    with pytest.raises(CourseError, match=words) as caught:
        run(name, columns(M, K), columns(K, N), backend="sim")
    assert "take GUARD = 3" in str(caught.value)


def test_without_a_guard_the_simulator_sees_where_the_kernel_leaves_its_array(monkeypatch):
    kernel = get("sgemm_volkov")
    monkeypatch.setattr(type(kernel), "sizes_of", property(lambda self: lambda *sizes: None))
    with pytest.raises(CourseError, match="reads [AB]\\["):
        run("sgemm_volkov", columns(60, 16), columns(16, 16), backend="sim")


@pytest.mark.slow
def test_version_2_needs_rows_enough_to_read_beyond():
    assert mismatch(run("sgemm_method5_v2", A := columns(65, 47), B := columns(47, 17), backend="sim").C, A, B) is None
    with pytest.raises(CourseError, match="at least 64 rows; A has 63"):
        run("sgemm_method5_v2", columns(63, 16), columns(16, 16), backend="sim")


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"sgemm_method{m}" for m in ("5_v1", "5_v2", "5_v3", "6", "7", "8")])
def test_six_cases(name):
    """Whole and cut tiles along M, N and K."""
    for M in (128, 131):
        for N in (40, 33):
            for K in (32, 41):
                A, B = columns(M, K), columns(K, N)
                assert mismatch(run(name, A, B, backend="sim").C, A, B) is None, (M, N, K)


def test_row_major_input_is_laid_out_by_columns():
    A, B = np.ascontiguousarray(columns(64, 16)), np.ascontiguousarray(columns(16, 16))
    result = run("sgemm_volkov", A, B, backend="sim")
    assert result.lda == 64
    assert mismatch(result.C, A, B) is None


def test_loads_run_along_the_columns():
    A, B = columns(128, 64), columns(64, 32)
    assert run("sgemm_volkov", A, B, backend="sim").sectors_per_request() == pytest.approx(4.0)


@pytest.mark.slow
def test_two_vectors_halve_the_shared_loads():
    A, B = columns(256, 64), columns(64, 48)
    one, two = (run(name, A, B, backend="sim").count("shared instructions") for name in ("sgemm_volkov", "sgemm_method1"))
    assert one == 2 * two
