"""The dispatcher: the fastest at every recorded size, a reasoned choice between two, and the right product."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import data
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.run import best_for, fastest, mismatch, run_best
from course_lib.run.dispatch import RECORDED


def record(kernel, N, gflops, parameters=None, **fields):
    return Record(kernel, N, parameters or {}, 1e-3, gflops=gflops, **fields)


CROSSING = [record("sgemm_tiled", 100, 10.0), record("sgemm_tiled", 400, 10.0), record("sgemm_2d_tile", 100, 2.0),
            record("sgemm_2d_tile", 400, 40.0)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_never_loses_to_one_of_its_parts(dtype):
    rows = [r for name in RECORDED for r in json.loads((data.FOLDER / f"{name}.json").read_text())["records"]]
    rows = [r for r in rows if r.get("dtype", "float32") == dtype and r["kernel"] != "cuBLAS"]
    table = {choice.N: choice for choice in fastest(dtype=dtype)}
    assert set(table) == {r["N"] for r in rows}
    assert len(table) == 22
    for N, choice in table.items():
        assert choice.gflops == max(r["gflops"] for r in rows if r["N"] == N)
        chosen = choice.kernel, N, choice.parameters, choice.gflops
        assert any((r["kernel"], r["N"], r["parameters"], r["gflops"]) == chosen for r in rows)
        assert best_for(N, dtype=dtype) == choice
        assert choice.recorded
    assert len({json.dumps((choice.kernel, choice.parameters)) for choice in table.values()}) > 3, "no single one is the best everywhere"


def test_between_two_sizes_it_expects_a_speed_between():
    halfway = best_for(200, records=CROSSING)
    assert (halfway.kernel, halfway.gflops, halfway.recorded) == ("sgemm_2d_tile", pytest.approx(21), False)
    early = best_for(110, records=CROSSING)
    assert (early.kernel, early.gflops) == ("sgemm_tiled", pytest.approx(10))
    assert [best_for(N, records=CROSSING).kernel for N in (1, 100, 400, 9000)] == ["sgemm_tiled"] * 2 + ["sgemm_2d_tile"] * 2
    assert not best_for(9000, records=CROSSING).recorded


def test_what_was_recorded_on_one_side_alone_is_not_expected_in_between():
    more = [*CROSSING, record("sgemm_warp_tile", 400, 1000.0)]
    assert best_for(300, records=more).kernel == "sgemm_2d_tile"
    assert best_for(400, records=more).kernel == "sgemm_warp_tile"
    with pytest.raises(CourseError, match="both at N = 100 and at N = 400"):
        best_for(200, records=[CROSSING[0], CROSSING[3]])


def test_a_matrix_that_is_not_square_counts_by_its_elements():
    wide = best_for(50, 800, 3, records=CROSSING)              # 200 x 200 elements
    assert (wide.kernel, wide.N, wide.recorded) == ("sgemm_2d_tile", 200.0, False)
    assert not best_for(50, 200, 100, records=CROSSING).recorded, "100 x 100 elements, but nobody measured this shape"


def test_a_kernel_that_cannot_do_the_size_is_not_chosen():
    records = [*CROSSING, record("sgemm_method2", 400, 1000.0, {"GUARD": 0})]
    assert best_for(400, records=records).kernel == "sgemm_2d_tile"
    assert best_for(400, records=[*CROSSING, record("sgemm_tiled", 400, 1000.0, {"BM": 4096})]).kernel == "sgemm_2d_tile"


@pytest.mark.parametrize("fields", [
    {"state": "failed"}, {"l2": "cold"}, {"grid": (9, 9, 1)}, {"dynamic_shared": 1024}, {"dtype": "float64"}, {"M": 7}, {"K": 7},
    {"backend": "sim"}, {"kernel": "cuBLAS"}, {"kernel": "gemm_ijk"}, {"gflops": None}, {"parameters": {"TRANSA": 1}}])
def test_records_of_other_launches_are_passed_over(fields):
    odd = record(**{"kernel": "sgemm_op", "N": 100, "gflops": 1e6} | fields)
    assert best_for(100, records=[*CROSSING, odd]).gflops == 10


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("letter", "dtype"), [("s", np.float32), ("d", np.float64)])
@pytest.mark.parametrize("shape", [(33, 47, 20), (1, 1, 1), (64, 64, 64)])
def test_the_chosen_kernel_computes_the_product(letter, dtype, shape):
    M, N, K = shape
    rng = np.random.default_rng(shape)
    A, B, C = (rng.standard_normal(s).astype(dtype) for s in ((M, K), (K, N), (M, N)))
    mine = SimpleNamespace(records=[record(f"{letter}gemm_block", size, speed, {"TILE": tile}, dtype=np.dtype(dtype).name)
                                    for size, tile, speed in ((16, 8, 2.0), (16, 16, 1.0), (64, 8, 1.0), (64, 16, 3.0))])
    result = run_best(A, B, C, alpha=2, beta=-1, records=mine, backend="sim")
    assert mismatch(result.C, A, B, C, alpha=2, beta=-1) is None
    assert (result.kernel.name, result.parameters) == (f"{letter}gemm_block", best_for(M, N, K, np.dtype(dtype).name, mine).parameters)
    assert mismatch(run_best(A, B, backend="sim").C, A, B) is None, "with what the course carries"


@pytest.mark.parametrize(("call", "words"), [
    (lambda: best_for(0), "M = 0"), (lambda: best_for(2.5), "M = 2.5"), (lambda: best_for(4, -1), "N = -1"),
    (lambda: best_for(True), "M = True"),
    (lambda: best_for(4, dtype="int32"), "'float32' or 'float64'"), (lambda: best_for(4, records=[]), "no timed product"),
    (lambda: fastest(records=[record("cuBLAS", 4, 1.0)]), "no timed product"),
    (lambda: run_best(np.ones(3, np.float32), np.ones((3, 3), np.float32)), "two-dimensional"),
    (lambda: run_best([[1]], [[1]]), "two-dimensional"),
    (lambda: run_best(np.ones((2, 2), int), np.ones((2, 2), int)), "'float32' or 'float64'"),
    (lambda: run_best(np.ones((2, 2), np.float32), np.ones((3, 2), np.float32), backend="sim"), "B is 3 × 2")])
def test_what_cannot_be_chosen_for_is_said(call, words):
    with pytest.raises(CourseError, match=words):
        call()


def test_a_choice_reads_as_a_sentence():
    assert str(best_for(100, records=CROSSING)) == "sgemm_tiled(): 10 GFLOP/s recorded at N = 100"
    assert "expected at N = 200" in str(best_for(200, records=CROSSING))
