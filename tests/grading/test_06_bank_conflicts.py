"""Exercise 06 beyond what every exercise is tested for: which line a gate names, the picture, tiles of other sizes."""

from pathlib import Path

import pytest

from course_lib.grading import check, part
from course_lib.grading.exercises.e06_bank_conflicts import BYTES, FRONTS
from course_lib.grading.pictures import worst_banks

TESTS = Path(__file__).parents[1]
EXERCISE = "06_bank_conflicts"
SWAP, SUMS = part(EXERCISE, "swap"), part(EXERCISE, "sums")
LESSON = TESTS.parent / "notebooks" / f"{EXERCISE}.ipynb"


def wrong(name):
    return (TESTS / f"wrong_kernels/{EXERCISE}/{name}.cu").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_gate_names_a_line_that_reads_a_column():
    finding, = check(wrong("not_padded"), SWAP).findings
    assert "partner[tx][i]" in finding.source_line
    assert sorted(finding.facts["shares"].values()) == [32, 96, 32 * 32, 96 * 32]


def test_the_lessons_kernel_is_told_what_goes_wrong_in_place():
    message = check(wrong("lessons_kernel"), SWAP).findings[0].message
    assert "Bring both tiles of a pair into shared memory before writing either" in message


@pytest.mark.parametrize("entry", ["transposed_in_place", "symmetrised", "row_sums"])
def test_the_lesson_does_not_print_the_answers(entry, answers):
    answer, lesson = answers("solutions", EXERCISE)[entry], LESSON.read_text(encoding="utf-8")
    assert entry not in lesson
    bare = [line.partition("//")[0].strip() for line in answer.splitlines()]
    lines = [line for line in bare if any(name in line for name in ("mine[", "other[", "partner[", "sum +="))]
    assert lines
    assert not [line for line in lines if line in lesson]


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize(("tile", "rows", "pad", "fronts", "size"), [
    (32, 8, 0, 2.0, 4.0), (32, 32, 0, 2.0, 4.0), (32, 4, 1, 3.0, 4.125), (16, 8, 0, 3.0, 4.0), (64, 8, 0, 2.0, 4.0)])
def test_what_a_tile_of_sums_costs(tile, rows, pad, fronts, size, answers):
    """By hand: a row of 32 and a diagonal of 32 take 1 wavefront each. With rows of 33 words a diagonal lies in every second bank: 2. Of
    a tile of 16 only 16 lanes read, with a wavefront for half as many elements. A tile of 64 has two warps that read."""
    source = answers("solutions", EXERCISE)["row_sums"].replace("#define TILE 32", f"#define TILE {tile}")
    source = source.replace("#define ROWS 8", f"#define ROWS {rows}").replace("tile[TILE][TILE]", f"tile[TILE][TILE + {pad}]")
    verdict = check(source, SUMS)
    assert all(outcome.passed for outcome in verdict.cases), verdict
    assert (verdict.values[FRONTS.name], verdict.values[BYTES.name]) == (fronts, size)
    assert verdict.passed == (fronts == 2.0)


@pytest.mark.parametrize(("change", "says"), [
    (lambda text: text, "32 lanes want 32 different words in 32 of 32 banks"),
    (lambda text: text.replace("[TILE + 1]", "[TILE]"), "in 1 of 32 banks, at most 32 in one bank: 32 wavefronts"),
    (lambda text: text.replace("__syncthreads();", "for (;;) __threadfence();"), "No picture: "),
    (lambda text: text.replace("mine[i][tx] =", "mine[i][tx ="), "No picture: "),
    (lambda text: text.replace("#define TILE 32", "#define TILE (32)"), "No picture: transposed_in_place does not run: TILE must be set"),
    (lambda text: text.replace("transposed_in_place(", "twisted("), "No picture: "),
    (lambda text: "", "No picture: "),
])
@pytest.mark.slow
def test_a_picture_or_a_sentence_whatever_the_answer_is(change, says, answers):
    said = str(worst_banks(change(answers("solutions", EXERCISE)["transposed_in_place"]), SWAP))
    assert says in said
    assert len(said.splitlines()) == 1


def test_every_gate_that_fails_is_told():
    verdict = check(wrong("diagonal_twice"), SWAP)
    assert [outcome.passed for outcome in verdict.gates] == [False, False, False]
    assert [finding.facts["gate"] for finding in verdict.findings] == [outcome.name for outcome in verdict.gates]
    assert len({finding.line for finding in verdict.findings}) == 2, "two of them name the same line"


def test_the_picture_draws_loads_that_are_joined_as_the_gate_counts_them():
    source = wrong("sums_in_order")
    drawn, counted = str(worst_banks(source, SUMS)), check(source, SUMS).values[FRONTS.name]
    assert "Four loads are joined into one" in drawn
    assert "load of 16 bytes a lane" in drawn
    assert drawn.endswith("32 wavefronts.]")
    assert counted == 1 + 32 / 4, "a store, and a fourth of the joined load"


def test_the_starter_has_no_picture_yet(answers):
    assert worst_banks(answers("exercises", EXERCISE)["transposed_in_place"], SWAP) == (
        "No picture: transposed_in_place does not use shared memory yet.")
