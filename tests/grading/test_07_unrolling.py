"""Exercises 07 and 08, beyond what every exercise is tested for: what gates of machine code read, and the tables below a check."""

import pytest

from course_lib.grading import check, part
from course_lib.grading.shown import line_table, loop_table, shared_table

EXERCISE, NAME = "07_unrolling", "machine instructions per multiply-add"


def rows(table):
    return [tuple(map(str, row)) for row in table.rows]


@pytest.mark.slow
def test_the_lines_add_up_to_what_the_gate_read(starters):
    text, spec = starters[EXERCISE, "main"], part(EXERCISE, "main")
    table = line_table(text, spec)
    verdict = check(text, spec)
    assert sum(float(times) for _, times, _ in rows(table)) == pytest.approx(verdict.values[NAME], abs=1e-3)
    marked, = table.marked
    assert int(rows(table)[marked][0]) == verdict.findings[0].line


def test_the_loop_of_the_starter_is_listed_and_that_of_the_solution_holds_a_whole_tile(starters, answers):
    spec = part(EXERCISE, "main")
    table = loop_table(starters[EXERCISE, "main"], spec)
    purposes = [what for *_, what in rows(table)]
    assert len(purposes) == 10
    assert len(table.marked) == purposes.count("multiply-add") == 1
    assert len(loop_table(answers("solutions", EXERCISE)["unrolled"], spec).marked) == 16


def test_a_table_of_a_kernel_that_cannot_run_says_why(starters):
    spec = part(EXERCISE, "main")
    text = starters[EXERCISE, "main"]
    for table in (line_table, loop_table, shared_table):
        assert "BM" in repr(table("int x;", spec))
        assert "why there is nothing to count" in repr(table(text.replace("float acc", "flaot acc"), spec))
        assert "why there is nothing to count" in repr(table(text.replace("(k0 + ty) * ldb", "(k0 + ty + 900) * ldb"), spec))


@pytest.mark.slow
def test_work_that_is_done_but_not_needed_counts_against_the_kernel(answers):
    spec = part(EXERCISE, "main")
    text = answers("solutions", EXERCISE)["unrolled"]
    twice = text.replace("acc += As[ty][k] * Bs[k][tx];", "acc += As[ty][k] * Bs[k][tx], spare = fmaf(spare, As[ty][k], Bs[k][tx]);")
    twice = twice.replace("float acc = 0.0f;", "float acc = 0.0f, spare = 1.0f;")
    twice = twice.replace("if (row < M && col < N) {", "if (row < M && col < N && spare != 0.125f) {")
    assert check(twice, spec).values[NAME] > check(text, spec).values[NAME] + 0.9


@pytest.mark.slow
def test_a_kernel_of_two_ways_is_judged_by_the_one_that_runs(answers, starters):
    """The gate reads the way that ran, however good the other one is."""
    spec = part(EXERCISE, "main")
    slow = starters[EXERCISE, "main"]
    good = answers("solutions", EXERCISE)["unrolled"].split("float acc = 0.0f;")[1].rsplit("}", 1)[0]
    both = slow.replace("    float acc = 0.0f;", f"    float acc = 0.0f;\n    if (K > 1000000) {{\n{good}\n        return;\n    }}", 1)
    verdict = check(both, spec)
    assert all(outcome.passed for outcome in verdict.cases)
    assert verdict.values[NAME] > 8


@pytest.mark.slow
def test_conflicts_of_the_solution_are_marked_in_its_table(answers):
    table = shared_table(answers("solutions", "08_register_blocking")["wide"], part("08_register_blocking", "wide"))
    assert "0 bytes in local memory" in repr(table)
    loads = {row[-1].split(" =")[0].strip(): row for row in rows(table) if "= As[k]" in row[-1] or "= Bs[k]" in row[-1]}
    assert loads["a[i]"][3] == "2"
    assert loads["b[j]"][3] == "4"
    assert loads["a[i]"][4] == loads["b[j]"][4] == ""
    stores = {row[-1].split(" =")[0].strip(): row for row in rows(table) if "] = block_row" in row[-1] or "] = k0" in row[-1]}
    assert stores["As[k][i]"][4] == "", "the padding keeps eight lanes apart"
    assert stores["Bs[k][j]"][2:4] == ("512", "2")
