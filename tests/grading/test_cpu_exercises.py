"""Exercises 01 and 02 beyond what every exercise is tested for: the formulas are those of a cache, pictures, what mistakes are told."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.grading import check, part
from course_lib.grading.exercises.e01_triple_loop import lines_of_order
from course_lib.grading.exercises.e02_cpu import lines_of_block
from course_lib.grading.loops_picture import lines_window, show_lines
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape, count_steps, loop_steps

MISTAKE = "def lines_per_multiply_add(order, per_line):\n    return {}"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("itemsize", [4, 8])
def test_the_formula_of_an_order_is_what_a_cache_of_three_lines_fetches(order, itemsize):
    sizes = dict.fromkeys("ijk", 4) | {order[2]: 800}
    M, N, K = (sizes[letter] for letter in "ijk")
    shapes = [(M, K, 1600), (K, N, 1600), (M, N, 1600)]
    fetched = count_steps(loop_steps(order, M, N, K), shapes, itemsize, CacheShape(3 * 64))
    assert sum(fetched) / (M * N * K) == pytest.approx(lines_of_order(order, 64 // itemsize), abs=3 / 800)


@pytest.mark.parametrize(("BI", "BJ", "lines"), [(16, 16, 64), (16, 32, 64), (24, 16, 64), (8, 48, 64), (48, 32, 256)])
def test_the_formula_of_a_block_is_what_a_cache_fetches_that_holds_it(BI, BJ, lines):
    M, N, K = 48, 96, 64
    i, j, k = loop_steps("ikj", M, N, K)
    walk = np.lexsort((j, i, k, j // BJ, i // BI))
    fetched = count_steps((i[walk], j[walk], k[walk]), [(M, K, K), (K, N, N), (M, N, N)], 4, CacheShape(64 * lines))
    assert sum(fetched) / (M * N * K) == pytest.approx(lines_of_block(BI, BJ, K), rel=1e-12)


@pytest.mark.parametrize(("formula", "says"), [
    ("{'j': 2 / per_line, 'k': 1 + 1 / per_line, 'i': 3}[order[2]]", "B(k, j) walks down a column as i counts up"),
    ("{'j': 2 / per_line, 'k': 1, 'i': 2}[order[2]]", "A(i, k) fetches nothing as k counts up"),
    ("{'j': 1 / per_line, 'k': 1 + 1 / per_line, 'i': 2}[order[2]]", "B(k, j) fetches nothing as j counts up"),
    ("7", "The innermost loop of 'ijk' is k: which of"),
])
def test_a_wrong_prediction_is_told_what_it_takes_for_what(formula, says):
    finding, = check(MISTAKE.format(formula), part("01_triple_loop", "predict")).findings
    assert says in finding.message


def test_a_prediction_in_lines_of_a_whole_block_is_told_to_divide():
    text = "def lines_per_multiply_add(BI, BJ, K):\n    return (BI * K + K * BJ + BI * BJ) / 16"
    finding, = check(text, part("02_cpu", "predict")).findings
    assert "divide by its multiply-adds" in finding.message


@pytest.mark.slow
def test_the_picture_shows_the_starter_going_down_a_column(starters):
    window = lines_window(starters["01_triple_loop", "stream"], part("01_triple_loop", "stream"), accesses=240, N=64)
    assert window.misses == {"A": 0, "B": 16, "C": 0}
    assert window.uses == {"A": 16, "B": 16, "C": 1}
    assert window.used["B"][:16, 1].all()


def test_the_picture_of_blocks_shows_what_stays(answers):
    text = answers("solutions", "02_cpu")["rectangle"]
    window = lines_window(text, part("02_cpu", "rectangle"), accesses=39_936, last=1536, N=64)
    assert window.uses == {"A": 16, "B": 32, "C": 512}
    assert window.misses == {"A": 0, "B": 2, "C": 0}
    assert window.held["C"][:16, :32].all()


@pytest.mark.parametrize(("text", "says"), [
    ("for (int i = 0; i <= M; ++i) C(i, 0) += alpha * A(i, 0) * B(0, 0);", "line 1: A(32, 0) does not exist"),
    ("float x[3];", "an array would be memory"),
    ("int x = 1;", "reach no element"),
])
def test_a_picture_of_loops_that_cannot_run_is_a_sentence(text, says, capsys):
    show_lines(text, part("02_cpu", "block"))
    assert says in capsys.readouterr().out
    with pytest.raises(CourseError):
        lines_window(text, part("02_cpu", "block"))
