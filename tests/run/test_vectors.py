"""The eight kernels of the LSU homework: right on any number of vectors, and as wasteful as the homework's table says."""

import numpy as np
import pytest

from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.kernels import ALL
from course_lib.model.matvec import counted_columns
from course_lib.run import run, run_vectors

NAMES = [name for name, kernel in ALL.items() if kernel.kind == "vectors"]
SIZES = {
    "mxv_vec_ld": [(5, 12), (32, 4)], "mxv_vls": [(4, 4), (32, 32)], "mxv_sh": [(5, 11), (9, 3)], "mxv_sh_ochunk": [(8, 13), (24, 1)],
}


def inputs(M, N, S):
    rng = np.random.default_rng([M, N, S])
    return rng.standard_normal((M, N)).astype(np.float32), rng.standard_normal((S, N)).astype(np.float32)


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_vectors(name):
    for S in (1, 31, 255, 257, 700):
        result = run_vectors(name, *inputs(16, 16, S), backend="sim", blocks=2, threads=128, racecheck=True)
        assert result.mismatch() is None
        assert result.out.shape == (S, 16)
        assert result.hazards == ()


@pytest.mark.sampled(test=1, slow=5)
@pytest.mark.parametrize(("name", "M", "N"), [(n, M, N) for n in NAMES for M, N in SIZES.get(n, [(5, 11), (1, 1)])])
def test_every_size_of_the_matrix(name, M, N):
    result = run_vectors(name, *inputs(M, N, 300), backend="sim", blocks=3, threads=96)
    assert result.mismatch() is None


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("name", "used"), [
    ("mxv_g_only", 0.125), ("mxv_i_lbuf", 0.125), ("mxv_o_lbuf", 0.125), ("mxv_o_per_thd", 0.125),
    ("mxv_vec_ld", 0.5), ("mxv_vls", 1.0), ("mxv_sh", 1.0), ("mxv_sh_ochunk", 1.0),
])
def test_request_utilisation_is_the_homeworks_last_column(name, used):
    result = run_vectors(name, *inputs(16, 16, 1024), backend="sim", blocks=2)
    assert result.load_utilisation == used
    assert f"{used:.1%} of the loaded sectors used" in repr(result)


@pytest.mark.sampled(test=1, slow=8)
@pytest.mark.parametrize("warps", [4, 12, 32])
@pytest.mark.parametrize("name", NAMES)
def test_requests_and_sectors_are_those_that_nsight_compute_counted(name, warps):
    """On an H200 with 2^20 vectors; here with 2^14, since every count goes with their number."""
    (row,) = readings("vectors").find(kernel=name, warps=warps)
    ours = run_vectors(name, *inputs(16, 16, 2**14), backend="sim", threads=32 * warps)
    for op, kind in (("ld", "load"), ("st", "store")):
        for what in ("requests", "sectors"):
            assert 64 * ours.counters[f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"] == row[f"{kind}_{what}"], (kind, what)
    assert counted_columns(row)["load efficiency"] == ours.load_utilisation


@pytest.mark.slow
def test_counts_go_with_the_number_of_vectors():
    for name in NAMES:
        few, many = (run_vectors(name, *inputs(16, 16, S), backend="sim", blocks=7, threads=384).counters for S in (2**10, 2**12))
        assert all(4 * few[c] == many[c] for c in few if "mem_global" in c), name


def test_the_homeworks_counts():
    result = run_vectors("mxv_g_only", *inputs(16, 16, 64), backend="sim", blocks=1)
    assert (result.multiply_adds, result.bytes) == (64 * 256, 4 * 64 * 32)
    assert result.gflops is None
    assert result.gb_s is None


@pytest.mark.parametrize(("change", "words"), [
    ({"vectors": np.ones((3, 4), np.float32)}, "must have 2"), ({"vectors": np.ones((3, 2))}, "float64 of shape"),
    ({"matrix": [[1.0]]}, "matrix is list"), ({"kernel": "sgemm_tiled"}, "one of the mxv kernels"), ({"threads": 0}, "too small"),
    ({"chunk": 3}, "no parameter of mxv_g_only"),
])
def test_what_does_not_fit_is_said(change, words):
    given = {"kernel": "mxv_g_only", "matrix": np.ones((2, 2), np.float32), "vectors": np.ones((3, 2), np.float32)} | change
    with pytest.raises(CourseError, match=words):
        run_vectors(given.pop("kernel"), given.pop("matrix"), given.pop("vectors"), backend="sim", **given)


def test_the_front_door_names_the_other_one():
    A = np.ones((2, 2), np.float32)
    with pytest.raises(CourseError, match="run_vectors"):
        run("mxv_sh", A, A, backend="sim")
