"""The cache in Python: counts that can be derived by hand, sets, bounds."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.model.cache_lines import CacheShape, LineCounter, blocked_accesses, blocked_steps, count_steps, loop_accesses, loop_steps


def count(steps, shapes, cache, itemsize=4):
    counter = LineCounter(shapes, itemsize, cache)
    for step in steps:
        counter.touch(*step)
    counter.finish()
    return counter.fetched


def shapes(M, N, K, pad=0):
    return [(M, K, K + pad), (K, N, N + pad), (M, N, N + pad)]


@pytest.mark.parametrize("order", ["ijk", "ikj", "jik", "jki", "kij", "kji"])
def test_in_a_cache_that_holds_everything_each_line_is_fetched_once(order):
    assert count(loop_accesses(order, 16, 32, 48), shapes(16, 32, 48), CacheShape()) == [16 * 3, 48 * 2, 16 * 2]


def test_the_loops_orders_in_a_cache_that_holds_no_column():
    """N = 32, six lines: worked out by hand. A row is 2 lines: two rows stay, no matrix and no column does."""
    N, cache, rows = 32, CacheShape(size=6 * 64), 2
    found = {order: count(loop_accesses(order, N, N, N), shapes(N, N, N), cache) for order in ("ijk", "ikj", "kij", "jki")}
    assert found["ijk"][1] == N**3                         # every element of B on a line that was gone again
    assert found["ikj"] == [N * rows, N * N * rows, N * rows]       # B once for each row of C; A and C once
    assert found["kij"][1:] == [N * rows, N * N * rows]    # C once for each k
    assert found["jki"][0] == found["jki"][2] == N**3      # both down their columns


def test_blocks_are_fetched_once_for_each_use_of_a_block():
    N, block = 32, 16                                      # three blocks of 16 lines fit into 64 lines
    found = count(blocked_accesses(N, N, N, block, block, block), shapes(N, N, N), CacheShape(size=64 * 64))
    lines, uses = N * N // 16, N // block
    assert found == [lines * uses, lines * uses, lines]


def test_a_direct_mapped_cache_has_conflicts_that_ways_avoid():
    steps = [(0, 0, 0), (0, 64, 0)] * 10                   # 64 lines apart: the same set of 64
    matrix = [(65, 16, 16)] * 3
    assert count(steps, matrix, CacheShape(size=4096, ways=1))[0] == 20
    assert count(steps, matrix, CacheShape(size=4096, ways=2))[0] == 2
    assert count(steps, matrix, CacheShape(size=4096))[0] == 2


def test_the_least_recently_used_line_goes():
    steps = [(0, row, 0) for row in (0, 1, 0, 2, 0, 1)]    # two lines: 2 drives out 1, not 0
    assert count(steps, [(3, 16, 16)] * 3, CacheShape(size=128))[0] == 4


def test_double_takes_twice_the_lines_and_padding_moves_rows_apart():
    steps = list(loop_accesses("ijk", 4, 16, 16))
    assert count(steps, shapes(4, 16, 16), CacheShape(), itemsize=8) == [8, 32, 8]
    assert count(steps, shapes(4, 16, 16, pad=1), CacheShape()) == [5, 17, 5]     # (3*17 + 16) / 16 and (15*17 + 16) / 16, rounded up


def test_simultaneous_accesses_have_an_order_of_their_own():
    """However a compiler orders the operands of a statement, the counts are the same."""
    cache = CacheShape(size=5 * 64)
    steps = list(loop_accesses("kji", 9, 17, 7))
    shuffled, rng = [], np.random.default_rng(1)
    for first in range(0, len(steps), 3):
        shuffled += [steps[first + i] for i in rng.permutation(3)]
    assert count(steps, shapes(9, 17, 7), cache) == count(shuffled, shapes(9, 17, 7), cache)


def test_an_index_outside_is_named():
    counter = LineCounter(shapes(2, 3, 4), 4, CacheShape())
    for step in ((0, 2, 0), (0, 0, 4), (1, -1, 0), (2, 0, 3)):
        with pytest.raises(CourseError, match="does not exist"):
            counter.touch(*step)


@pytest.mark.parametrize(("arguments", "words"), [
    ({"line": 48}, "a cache line of 48 bytes"), ({"line": 4}, "at least 8"), ({"size": 32}, "a cache of 32 bytes"),
    ({"size": 100}, "multiple of its lines"), ({"ways": 3}, "512 lines cannot be shared out to sets of 3"), ({"ways": 0}, "ways"),
])
def test_a_cache_that_cannot_be_is_refused(arguments, words):
    with pytest.raises(CourseError, match=words):
        CacheShape(**arguments)


def test_an_order_that_is_none_is_refused():
    with pytest.raises(CourseError, match="'iji' is no order"):
        list(loop_accesses("iji", 1, 1, 1))


@pytest.mark.sampled(test=13)
@pytest.mark.parametrize("order", ["ijk", "ikj", "jik", "jki", "kij", "kji"])
@pytest.mark.parametrize("cache", [CacheShape(64), CacheShape(128), CacheShape(192), CacheShape(512, ways=2), CacheShape(1024),
                                   CacheShape(2048, ways=4), CacheShape()])
def test_the_fast_count_is_the_slow_one(order, cache):
    sizes, about = (9, 35, 22), shapes(9, 35, 22, pad=3)
    assert count_steps(loop_steps(order, *sizes), about, 4, cache) == count(loop_accesses(order, *sizes), about, cache)


@pytest.mark.parametrize("block", [(1, 1, 1), (4, 16, 8), (5, 7, 3), (64, 64, 64)])
def test_blocks_walk_alike(block):
    slow = list(blocked_accesses(9, 21, 10, *block))
    i, j, k = blocked_steps(9, 21, 10, *block)
    assert [tuple(x) for x in np.stack([i, k]).T.tolist()] == [(row, col) for matrix, row, col in slow if matrix == 0]
    assert [tuple(x) for x in np.stack([k, j]).T.tolist()] == [(row, col) for matrix, row, col in slow if matrix == 1]


def test_how_much_of_a_column_fits_is_what_the_count_says():
    """A column that fits is fetched once for a line's 16 columns, one that does not for every element."""
    cache = CacheShape(4096, ways=4)
    for N in (24, 32, 40, 48, 64, 66, 80):
        fetched = count_steps(loop_steps("jki", N, N, 1), shapes(N, N, 1), 4, cache)[2]
        assert (fetched > 2 * N * N / 16) == (cache.column(4 * N) <= N), N
    with pytest.raises(CourseError, match="positive"):
        cache.column(0)
