"""The choice of a kernel by shape: for every product there is one, it may run, it is right, and it follows from its table."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.data.readings import Readings
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.model.busiest_work import cost_terms
from course_lib.model.stream_k import block_counts, sharing
from course_lib.run import choose, mismatch, run_chosen
from course_lib.run.choice import KERNELS, MOST_WORKSPACE, cost_names, estimates

OPERANDS = [{"TRANSA": a, "TRANSB": b, "WIDE": wide} for a in (0, 1) for b in (0, 1) for wide in (1, 2)]
NAMES = sorted({name for fixed in OPERANDS for name in cost_names(fixed).values()})
LONG = st.one_of(st.integers(1, 70), st.integers(1, 5000), st.integers(1, 2**31 - 1))
SMALL = {"BM": 32, "BN": 32, "BK": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "STAGES": 3, "RESIDENT": 4}
LARGE = {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 64, "TM": 16, "TN": 8, "STAGES": 4, "RESIDENT": 2}


def tile_row(number, tile, **costs):
    return {"kind": "tile", "kernel": "sgemm_stream_k", "dtype": "float32", "tile": number, "parameters": tile,
            "costs": dict.fromkeys(NAMES, 1e-9) | {name: cost for name, cost in costs.items() if name != "busy"}
            | {name: costs["busy"] for name in NAMES if name.startswith("busy") and "busy" in costs}}


def table_of(*rows):
    return Readings("a GPU", "1", "2026-01-01", "a test", rows)


TABLE = table_of(
    tile_row(0, SMALL, busy=1e-7), tile_row(1, LARGE, busy=4e-7),
    {"kind": "product", "kernel": "sgemm_stream_k", "dtype": "float32", "M": 40, "N": 48, "K": 56, "TRANSA": 0, "TRANSB": 0, "WIDE": 4,
     "tile": 1, "blocks": 3, "seconds": 5e-6})


@settings(deadline=None, max_examples=150)
@given(LONG, LONG, LONG, st.sampled_from(sorted(KERNELS)), st.booleans(), st.booleans(), st.booleans())
def test_every_product_has_a_choice_that_may_run(M, N, K, dtype, transa, transb, aligned):
    found = choose(M, N, K, dtype, transa, transb, aligned)
    kernel, p = get(found.kernel), found.parameters
    assert kernel.dtype == dtype
    assert kernel.problems(**p) == ()
    assert set(p) == {parameter.name for parameter in kernel.parameters}, "nothing is left to a default"
    assert kernel.sizes_of(M, N, K, kernel.check(**p)) is None
    assert (p["TRANSA"], p["TRANSB"]) == (transa, transb)
    assert aligned or p["WIDE"] == 1
    assert sum(np.dtype(kind).itemsize * count for kind, count in kernel.workspace(**p)) <= MOST_WORKSPACE + 4 * p["blocks"]
    assert 0 < found.seconds < math.inf
    assert str(found).endswith("estimated" if not found.tuned else "measured")


@pytest.mark.parametrize(("sizes", "transposed", "wide"), [
    ((8, 8, 8), (0, 0), True), ((7, 8, 8), (0, 0), True), ((8, 8, 7), (0, 0), False), ((8, 7, 8), (0, 0), False),
    ((7, 8, 8), (1, 0), False), ((8, 8, 7), (1, 0), True), ((8, 8, 7), (1, 1), False), ((8, 7, 8), (0, 1), False)])
@pytest.mark.parametrize("dtype", sorted(KERNELS))
def test_wide_copies_are_chosen_where_all_rows_allow_them(sizes, transposed, wide, dtype):
    found = choose(*sizes, dtype, *map(bool, transposed))
    assert (found.parameters["WIDE"] > 1) == wide
    assert choose(*sizes, dtype, *map(bool, transposed), aligned=False).parameters["WIDE"] == 1


def test_the_choice_is_the_least_of_all_estimates():
    sizes, fixed = (300, 500, 200), {"WIDE": 4, "TRANSA": 0, "TRANSB": 0}
    expected = {}
    for row in TABLE.find(kind="tile"):
        p = row["parameters"]
        shape = p["BM"], p["BN"], p["BK"]
        for blocks in block_counts(*sizes, shape, p["RESIDENT"], DEFAULT_DEVICE.sms):
            terms = cost_terms(sharing(*sizes, shape, blocks), p["RESIDENT"], DEFAULT_DEVICE.sms)
            busy = terms.pop("busy") * row["costs"]["busy NN wide"]
            expected[row["tile"], blocks] = busy + 1e-9 * sum(terms.values())
    found = choose(*sizes, table=TABLE)
    tile, blocks = min(expected, key=expected.__getitem__)
    assert found.parameters == {**(SMALL, LARGE)[tile], **fixed, "blocks": blocks}
    assert found.seconds == pytest.approx(min(expected.values()))
    assert len(estimates(sizes, "float32", fixed, TABLE)) == len(expected)


def test_no_choice_asks_for_gigabytes():
    sizes = 20000, 20000, 64
    assert max(block_counts(*sizes, (32, 32, 32), 4, 132)) * 32 * 32 * 4 > MOST_WORKSPACE
    options = estimates(sizes, "float32", {"WIDE": 4, "TRANSA": 0, "TRANSB": 0}, TABLE)
    assert options
    assert all(p["blocks"] * p["BM"] * p["BN"] * 4 <= MOST_WORKSPACE for _, p in options)


def test_the_estimate_decides_between_tiles():
    """Steps of the large tile have four times the work: it wins as soon as they cost less than four of the small one's."""
    def chosen(cost, *sizes):
        return choose(*sizes, table=table_of(tile_row(0, SMALL, busy=1e-7), tile_row(1, LARGE, busy=cost))).parameters["BM"]
    assert chosen(3e-7, 4096, 4096, 4096) == 128
    assert chosen(5e-7, 4096, 4096, 4096) == 32
    assert chosen(3e-7, 32, 32, 4096) == 32, "one small tile is enough"


def test_a_product_of_the_table_gets_what_was_fastest_there():
    found = choose(40, 48, 56, table=TABLE)
    assert found.tuned
    assert found.seconds == 5e-6
    assert found.parameters == {**LARGE, "WIDE": 4, "TRANSA": 0, "TRANSB": 0, "blocks": 3}
    assert not choose(40, 48, 57, table=TABLE).tuned
    assert not choose(40, 48, 56, transa=True, table=TABLE).tuned
    assert not choose(40, 48, 56, aligned=False, table=TABLE).tuned


def test_one_size_is_a_square():
    assert choose(513) == choose(513, 513, 513)
    assert choose(40, 48) == choose(40, 48, 40)


def test_the_carried_table_has_what_was_fastest():
    for row in data.readings("choices").find(kind="product"):
        found = choose(row["M"], row["N"], row["K"], row["dtype"], bool(row["TRANSA"]), bool(row["TRANSB"]))
        assert (found.tuned, found.seconds, found.parameters["blocks"]) == (True, row["seconds"], row["blocks"])


@pytest.mark.slow
def test_your_own_table_is_asked():
    A, B, C = (np.random.default_rng(5).standard_normal(shape, dtype=np.float32) for shape in ((40, 56), (56, 48), (40, 48)))
    result = run_chosen(A, B, C, alpha=2, beta=-1, table=TABLE, backend="sim")
    assert (result.kernel.name, result.parameters) == ("sgemm_stream_k", choose(40, 48, 56, table=TABLE).parameters)
    assert mismatch(result.C, A, B, C, alpha=2, beta=-1) is None


SHAPES = [(1, 1, 1), (1, 40, 3), (33, 1, 65), (31, 33, 129)]


@pytest.mark.parametrize("dtype", sorted(KERNELS))
@pytest.mark.parametrize(("transa", "transb"), [
    (False, False), *(pytest.param(a, b, marks=pytest.mark.slow) for a, b in ((True, False), (False, True), (True, True)))])
def test_what_is_chosen_is_right(dtype, transa, transb):
    rng = np.random.default_rng(3)
    for M, N, K in SHAPES:
        A = rng.standard_normal((K, M) if transa else (M, K)).astype(dtype)
        B = rng.standard_normal((N, K) if transb else (K, N)).astype(dtype)
        result = run_chosen(A, B, transa=transa, transb=transb, backend="sim", racecheck=True)
        assert mismatch(result.C, A.T if transa else A, B.T if transb else B) is None, (M, N, K)
        assert result.hazards == ()
        assert result.parameters["WIDE"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", sorted(KERNELS))
def test_rows_that_begin_between_multiples_of_16_bytes_are_copied_one_by_one(dtype):
    rng = np.random.default_rng(4)
    for padding, expected in ((1, {1}), (4, {2, 4})):
        A, B = (rng.standard_normal((rows, 36 + padding)).astype(dtype)[:, :36] for rows in (20, 36))
        result = run_chosen(A, B, backend="sim")
        assert result.parameters["WIDE"] in expected
        assert mismatch(result.C, A, B) is None
    C = np.ones((20, 37), dtype)[:, :36]
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    result = run_chosen(A, B, C, beta=2.0, backend="sim")
    assert result.parameters["WIDE"] == 1
    assert np.allclose(result.C, A.astype(float) @ B + 2, rtol=1e-4)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: choose(0, 1, 1), "M = 0"), (lambda: choose(1, 2.5, 1), "N = 2.5"), (lambda: choose(1, 1, True), "K = True"),
    (lambda: choose(1, 2**31, 1), "2147483647"), (lambda: choose(1, 1, 1, "int32"), "float32 and float64"),
    (lambda: run_chosen(np.ones(3, np.float32), np.ones((3, 3), np.float32)), "two-dimensional"),
    (lambda: run_chosen([[1]], [[1]]), "two-dimensional"),
    (lambda: run_chosen(np.ones((2, 2), int), np.ones((2, 2), int)), "float32 and float64"),
    (lambda: run_chosen(np.ones((2, 2), np.float32), np.ones((3, 2), np.float32), backend="sim"), "B is 3 × 2")])
def test_what_cannot_be_chosen_for_is_refused(call, words):
    with pytest.raises(CourseError, match=words):
        call()
