"""Exercise 09, beyond what every exercise is tested for: the mistakes that part 1 names, and how large the inputs may get."""

import pytest

from course_lib.grading import check, part

EXERCISE = "09_outer_product"
MISTAKES = {
    "all threads of the block": lambda t, v, n: (t * v * n, 1 / v, 1 / n + 1 / (t * v)),
    "its own set of sums": lambda t, v, n: (n, 1 / v, 1 / n + 1 / (t * v)),
    "once in a register, serves": lambda t, v, n: (v * n, 1, 1 / n + 1 / (t * v)),
    "the words for one k": lambda t, v, n: (v * n, n, 1 / n + 1 / (t * v)),
    "upside down": lambda t, v, n: (v * n, v, 1 / n + 1 / (t * v)),
    "A does not come from shared memory": lambda t, v, n: (v * n, 1 / v + 1 / n, 1 / n + 1 / (t * v)),
    "the tile of B is loaded too": lambda t, v, n: (v * n, 1 / v, 1 / n),
    "the elements of A are loaded too": lambda t, v, n: (v * n, 1 / v, 1 / (t * v)),
    "its share of it": lambda t, v, n: (v * n, 1 / v, 1 / n + 1 / v),
    "serves all vectors of the block": lambda t, v, n: (v * n, 1 / v, 1 / n + 1 / t),
    "serves a whole row of its sums": lambda t, v, n: (v * n, 1 / v, v / n + 1 / (t * v)),
}


@pytest.mark.parametrize(("says", "answer"), MISTAKES.items())
def test_a_mistake_in_the_formulas_is_named(says, answer):
    verdict = check(answer, part(EXERCISE, "costs"))
    assert [says in finding.message for finding in verdict.findings] == [True], verdict


@pytest.mark.parametrize("got", [(None, 1, 1), (0, 0, 0), (float("nan"), 1, 1), (1, 1)])
def test_a_number_of_no_known_mistake_is_wrong_all_the_same(got):
    assert not check(lambda threads, vectors, columns: got, part(EXERCISE, "costs")).passed


@pytest.mark.parametrize(("name", "short"), [("main", "COLS"), ("main-b", "ROWS")])
def test_the_inputs_of_a_block_with_many_vectors_stay_small(name, short):
    spec = part(EXERCISE, name)
    tile = {"THREADS": 128, "VECTORS": 128, short: 24, "BK": 16}
    assert max(spec.operation.work(case) for case in (*spec.cases(tile), spec.gate_case(tile))) < 8e6
