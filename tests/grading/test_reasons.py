"""Why a gate is missed, as the note says it: with one thing changed in a right kernel, that thing is named, and no other."""

import dataclasses

import pytest
from answer_files import TESTS, answer, header, solved_cells, without_regions

from course_lib.grading import check, part
from course_lib.grading.judge.reasons import Reason
from course_lib.grading.judge.spec import Reading

CONFLICTS, APART = "are bank conflicts", "neighbouring lanes took neighbours"
ONCE, ALONG = "once", "neighbouring lanes"


def of_file(path):
    return (path.split("/")[0], header(TESTS / "wrong_kernels" / path)[0], answer(TESTS / "wrong_kernels" / path))


def of_solution(exercise, name, *changes):
    text = without_regions(solved_cells(exercise)[f"{name}-answer"].split("\n", 1)[1])
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return exercise, name, text


DOWN_A = ("As[ty][k] = row < M && k0 + k < K ? A[row * lda + k0 + k] : 0.0f",
          "As[k][ty] = blockIdx.y * BM + k < M && k0 + ty < K ? A[(blockIdx.y * BM + k) * lda + k0 + ty] : 0.0f")
# what was changed -> (the answer, the gate, what the note says, what it does not say)
CASES = {
    "A loaded down its columns": (
        lambda: of_solution("04_tiling", "tile", DOWN_A), "sectors", (APART, "A: a load request of this line touches 16.0 sectors"),
        (ONCE,)),
    "AᵀB loaded down its columns": (lambda: of_file("04_tiling/at_loads_down_a_column.cu"), "sectors", (APART,), (ONCE,)),
    "no tile": (lambda: of_file("04_tiling/not_tiled.cu"), "sectors", ("Load each element of a tile once",), (APART, ALONG)),
    "H loaded down its columns": (
        lambda: of_file("14_gemm_at_work/back_h_down_columns.cu"), "sectors", (APART, "H: a load request"), ("Ask H once",)),
    "more sectors, and lanes apart": (
        lambda: of_file("05_coalescing/ratio_diluted.cu"), "loaded per multiply-add", (APART, "which is still too much",
        "Load each element"), ()),
    "rows that are not padded": (
        lambda: of_file("06_bank_conflicts/not_padded.cu"), "wavefronts", (CONFLICTS, "find a bank of its own"), (ONCE, "register")),
    "tiles on the diagonal twice": (
        lambda: of_file("06_bank_conflicts/diagonal_twice.cu"), "wavefronts", ("bank conflicts are not the reason", "once"),
        ("find a bank",)),
    "rows below each other": (
        lambda: of_file("08_register_blocking/rows_below_each_other.cu"), "wavefronts", (CONFLICTS,), ("register",)),
    "a thread of eight outputs in a column": (
        lambda: of_file("08_register_blocking/a_column_of_eight.cu"), "wavefronts", ("bank conflicts are not the reason",
        "into registers"), ()),
    "stores on one bank": (
        lambda: of_file("08_register_blocking/eight_lanes_on_one_bank.cu"), "wavefronts", (CONFLICTS, "lanes that store"), ("read four",)),
    "loads on one bank": (
        lambda: of_file("08_register_blocking/eights_side_by_side.cu"), "wavefronts", (CONFLICTS, "read four"), ("lanes that store",)),
    "A loaded down its columns, 8 × 8": (lambda: of_file("08_register_blocking/lanes_down_a.cu"), "sectors", (APART,), ("larger tile",)),
    "an array that the run indexes": (
        lambda: of_file("08_register_blocking/still_in_local_memory.cu"), "local memory", ("of an array", "unroll"), ("moved out",
        "fewer sums")),
    "an array that the run indexes, of sums": (
        lambda: of_file("09_outer_product/sums_in_local_memory.cu"), "local memory", ("192 of an array", "unroll"), ("fewer sums",)),
    "too few registers": (
        lambda: of_file("09_outer_product/held_down.cu"), "local memory", ("registers that were moved out", "fewer sums"), ("unroll",)),
    "a loop that is not unrolled": (
        lambda: of_solution("10_any_size", "main", ("for (int k = 0; k < BK; ++k) {",
        "\n#pragma unroll 1\nfor (int k = 0; k < BK; ++k) {")),
        "machine", ("unroll it",), ()),
    "rows that do not begin at 16 bytes": (
        lambda: of_file("15_closing_in/padded_by_one.cu"), "wavefronts loaded", ("loads are not of four words",), ("l ^ 1",)),
    "lanes in order": (lambda: of_file("15_closing_in/lanes_in_order.cu"), "wavefronts loaded", ("l ^ 1", "not the reason"), (CONFLICTS,)),
    "eights side by side": (
        lambda: of_file("15_closing_in/eights_side_by_side.cu"), "wavefronts loaded", (CONFLICTS, "read four"), ("l ^ 1", "register")),
    "half of each sector": (lambda: of_file("15_closing_in/a_thread_for_each_row.cu"), "sectors", (APART,), ("larger tile",)),
}


@pytest.mark.slow
@pytest.mark.sampled(slow=4)
@pytest.mark.parametrize("name", CASES)
def test_a_note_names_what_was_changed_and_nothing_else(name):
    make, gate, says, never = CASES[name]
    exercise, which, text = make()
    verdict = check(text, part(exercise, which))
    told, = (finding.message for finding in verdict.findings if finding.kind == "gate" and gate in finding.facts["gate"])
    assert all(words in told for words in says), told
    assert not any(words in told for words in never), told


@pytest.mark.parametrize("name", ["A loaded down its columns", "rows that are not padded", "tiles on the diagonal twice", "no tile"])
def test_a_note_names_the_reason(name):
    """The quickest of them, in `make test` too."""
    test_a_note_names_what_was_changed_and_nothing_else(name)


def test_without_a_reason_the_rest_of_the_count_is_left():
    reading = Reading(33.0, "4224 / 128", {21: 3072, 15: 1152}, {21: 2976, 15: 992})
    reason = Reason(reading.conflicts, {21: "%s has most", 15: "%s"}, "without", "")
    assert reason.line == 21
    assert reason.without(reading) == pytest.approx(2)
    assert reason.told(reading, "this line") == "this line has most; without it would be 2.0000"
    assert reason.without(dataclasses.replace(reading, value=66.0)) == pytest.approx(4)
