"""Cache lines counted in C: against a cache written here, against Python's, and for loops of one's own."""

import re

import numpy as np
import pytest
from cpu_tools import matrices, needs_c

from course_lib.errors import CourseError
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape
from course_lib.run import count_lines, mismatch
from course_lib.toolchain import CompileError, CrashedError

NAMES = [*(f"gemm_{order}" for order in ORDERS), "gemm_blocked"]
CACHES = [CacheShape(64), CacheShape(1024), CacheShape(2048, ways=4), CacheShape(4096, line=32, ways=1), CacheShape()]
BODY = """for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j);"""


def slow_count(order, arrays, cache):
    """Count by sorting all ages at every step: another way than the library's two."""
    A, B, C = arrays
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    start, first = [], 0
    for x in arrays:
        start.append(first)
        first += -(-((x.shape[0] - 1) * (x.strides[0] // x.itemsize) + x.shape[1]) * x.itemsize // cache.line)
    held, fetched, now = {}, [0, 0, 0], 0
    loops = np.indices([{"i": M, "j": N, "k": K}[c] for c in order]).reshape(3, -1).T
    for step in loops:
        i, j, k = (step[order.index(c)] for c in "ijk")
        for m, (row, col) in enumerate(((i, k), (k, j), (i, j))):
            line = start[m] + (row * arrays[m].strides[0] + col * arrays[m].itemsize) // cache.line
            now += 1
            if line not in held:
                fetched[m] += 1
                same = [x for x in held if x % cache.sets == line % cache.sets]
                if len(same) == cache.lines // cache.sets:
                    del held[min(same, key=held.get)]
            held[line] = now
    return dict(zip("ABC", fetched, strict=True))


@pytest.mark.sampled(test=4)
@needs_c
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_against_a_cache_written_here(order, dtype):
    arrays = matrices(7, 21, 11, pads=(2, 0, 5), dtype=dtype)
    for cache in (CacheShape(256), CacheShape(512, ways=2)):
        found = count_lines(f"gemm_{order}", *arrays, beta=1.0, cache=cache, by="c")
        assert found.fetched == slow_count(order, arrays, cache)
        assert found.accesses == dict.fromkeys("ABC", 7 * 21 * 11)
        assert mismatch(found.C, *arrays, beta=1.0) is None


@pytest.mark.sampled(test=1)
@needs_c
@pytest.mark.parametrize("name", NAMES)
def test_c_and_python_count_the_same(name):
    for shape, pads in (((1, 1, 1), (0, 0, 0)), ((13, 20, 9), (0, 0, 0)), ((8, 16, 24), (3, 1, 7))):
        A, B, C = matrices(*shape, pads=pads)
        for cache in CACHES:
            in_c, in_python = (count_lines(name, A, B, C, beta=-1.0, cache=cache, by=by) for by in ("c", "python"))
            assert in_c.fetched == in_python.fetched
            assert in_c.accesses == in_python.accesses
            assert mismatch(in_c.C, A, B, C, beta=-1.0) is None
            assert mismatch(in_python.C, A, B, C, beta=-1.0) is None


@needs_c
def test_loops_of_ones_own_count_as_the_catalogs():
    A, B, _ = matrices(40, 50, 60)
    own, ours = count_lines(BODY, A, B, cache=CacheShape(2048)), count_lines("gemm_ikj", A, B, cache=CacheShape(2048))
    assert own.fetched == ours.fetched
    assert mismatch(own.C, A, B) is None
    assert "lines per multiply-add (counted in a model of a cache)" in repr(own)
    assert own.per_multiply_add == own.total / 120_000


@needs_c
def test_how_a_compiler_orders_the_operands_changes_no_count():
    body = """for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) for (int k = 0; k < K; ++k) {
        if (k % 2) { REAL a = A(i, k); REAL b = B(k, j); C(i, j) += a * b; }
        else { REAL* c = &C(i, j); REAL b = B(k, j); *c += A(i, k) * b; }
    }"""
    A, B, _ = matrices(5, 17, 7)
    for lines in (1, 2, 3, 5):
        cache = CacheShape(size=lines * 64)
        assert count_lines(body, A, B, cache=cache).fetched == count_lines("gemm_ijk", A, B, cache=cache, by="python").fetched


@needs_c
def test_a_sum_kept_in_a_variable_asks_nothing_for_c():
    body = """for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) {
        REAL sum = 0;
        for (int k = 0; k < K; ++k) sum += A(i, k) * B(k, j);
        C(i, j) += sum;
    }"""
    A, B, _ = matrices(8, 9, 10)
    found = count_lines(body, A, B)
    assert found.accesses == {"A": 720, "B": 720, "C": 72}
    assert mismatch(found.C, A, B) is None


@needs_c
def test_own_blocks_with_defines_and_min():
    body = """#define BI 8
    for (int i0 = 0; i0 < M; i0 += BI) for (int j0 = 0; j0 < N; j0 += BI) for (int k0 = 0; k0 < K; k0 += BI)
        for (int i = i0; i < min(i0 + BI, M); ++i) for (int k = k0; k < min(k0 + BI, K); ++k)
            for (int j = j0; j < min(j0 + BI, N); ++j) C(i, j) += A(i, k) * B(k, j);"""
    A, B, _ = matrices(19, 23, 31)
    own = count_lines(body, A, B, cache=CacheShape(2048))
    assert mismatch(own.C, A, B) is None
    assert own.fetched == count_lines("gemm_blocked", A, B, cache=CacheShape(2048), BI=8, BJ=8, BK=8).fetched


@pytest.mark.sampled(test=3)
@needs_c
@pytest.mark.parametrize(("body", "kind", "words"), [
    ("\nfor (int i = 0; i <= M; ++i)\n  C(i, 0) += 1;", CourseError,
     "your program, line 3: C(8, 0) does not exist, C has 8 rows and 9 columns\n       3 |   C(i, 0) += 1;"),
    ("C(0, 0) += A(0, -1);", CourseError, "A(0, -1) does not exist"),
    ("C(0, 0) += B(0, N);", CourseError, "B(0, 9) does not exist"),
    ("for (;;)\n  C(0, 0) += 1;", CourseError, "line 2: ended after 5000 accesses"),
    ("for (volatile int i = 0;;) ;", CrashedError, "did not end within 2 s"),
    ("int x = 1; (void)x;", CourseError, "reaches no element"),
    ("A(0, 0) = 1;", CompileError, "line 1: error"),
    ("C(0, 0) += D(0, 0);", CompileError, "line 1: error"),
    ("for (int i = 0; i < M; ++i) {", CompileError, "error"),
])
def test_what_is_wrong_with_loops_is_told_with_their_line(body, kind, words):
    A, B, _ = matrices(8, 9, 10)
    with pytest.raises(kind, match=re.escape(words)):
        count_lines(body, A, B, most=5000, limit_s=2)


def test_without_a_compiler_python_counts_the_catalog_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    A, B, _ = matrices(9, 8, 7)
    assert count_lines("gemm_kij", A, B).counted_by == "python"
    with pytest.raises(CourseError, match="no C compiler is found"):
        count_lines(BODY, A, B)
    with pytest.raises(CourseError, match="take N up to 128"):
        count_lines("gemm_ijk", np.ones((256, 256), np.float32), np.ones((256, 256), np.float32))


@pytest.mark.parametrize(("kernel", "options", "words"), [
    ("gemm_packed", {}, "cannot be counted"), ("blas", {}, "cannot be counted"), ("gemm_ijk", {"by": "magic"}, "'c' or by 'python'"),
    (BODY, {"by": "python"}, "counted by C"), ("gemm_ijk", {"BI": 3}, "BI is no parameter"),
])
def test_what_cannot_be_counted_is_told(kernel, options, words):
    A, B, _ = matrices(4, 4, 4)
    with pytest.raises(CourseError, match=words):
        count_lines(kernel, A, B, **options)


@needs_c
@pytest.mark.parametrize("name", ["gemm_ijk", "gemm_ikj", "gemm_blocked"])
def test_the_trace_is_what_was_counted(name):
    """Both counters keep the same accesses, and held lines, fetched and evicted ones add up."""
    A, B, C = matrices(5, 21, 7, pads=(1, 3, 0))
    cache = CacheShape(512)
    in_c, in_python = (count_lines(name, A, B, C, beta=1.0, cache=cache, by=by, trace=10_000) for by in ("c", "python"))
    assert in_c.shapes == in_python.shapes == ((5, 7, 8), (7, 21, 24), (5, 21, 21))
    assert (in_c.trace == in_python.trace).all()
    assert len(in_c.trace) == 3 * 5 * 21 * 7
    matrix, row, col, line, fetched, evicted = in_c.trace.T
    assert {m: int(fetched[matrix == i].sum()) for i, m in enumerate("ABC")} == in_c.fetched
    held = set()
    for access in in_c.trace.tolist():
        assert (access[3] in held) == (not access[4])
        held = (held | {access[3]}) - {access[5]}
        assert len(held) <= cache.lines
    assert (line[matrix == 1] - line[matrix == 1].min() == (row * 24 + col)[matrix == 1] // 16).all()


@needs_c
def test_a_short_trace_and_none():
    A, B, _ = matrices(4, 4, 4)
    assert count_lines("gemm_ijk", A, B).trace.shape == (0, 6)
    assert count_lines("gemm_ijk", A, B, by="python").trace.shape == (0, 6)
    for by in ("c", "python"):
        assert count_lines("gemm_ijk", A, B, trace=7, by=by).trace[:, :3].tolist() == [
            [0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 1], [1, 1, 0], [2, 0, 0], [0, 0, 2]]
    with pytest.raises(CourseError, match="up to"):
        count_lines("gemm_ijk", A, B, trace=-1)
