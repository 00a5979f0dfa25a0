"""Exercise 06 beyond what every exercise is tested for: which line a gate names, the picture, tiles of other sizes."""

from pathlib import Path

import pytest

from course_lib.grading import check, part
from course_lib.grading.parts.e06_bank_conflicts import BYTES, FRONTS
from course_lib.grading.pictures import worst_banks

TESTS = Path(__file__).parents[1]
EXERCISE = "06_bank_conflicts"
TURN = part(EXERCISE, "turn")


def wrong(name):
    return (TESTS / f"wrong_kernels/{EXERCISE}/{name}.cu").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_gate_names_the_line_that_reads_the_column():
    source = wrong("not_padded")
    finding, = check(source, TURN).findings
    assert source.splitlines()[finding.line - 1] == finding.source_line
    assert "tile[tx][i]" in finding.source_line
    assert finding.facts["shares"] == {finding.line: 4096, finding.line - 4: 128}


def test_the_first_wrong_element_is_named_by_where_it_comes_from():
    finding = check(wrong("swizzle_only_written"), part(EXERCISE, "swizzle")).findings[0]
    assert "out[0][1] holds in[1][1]; in[1][0] belongs there" in finding.message


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize(("tile", "rows", "pad", "fronts", "size"), [
    (32, 8, 1, 2.0, 4.125), (32, 32, 2, 3.0, 4.25), (32, 4, 16, 17.0, 6.0),
    (16, 8, 2, 3.0, 4.5), (8, 8, 4, 3.0, 6.0), (64, 8, 1, 2.0, 4.0625)])
def test_what_a_tile_costs(tile, rows, pad, fronts, size, answers):
    """By hand: 1 wavefront for a row of 32, gcd(TILE + PAD, 32) for a column; a warp covers several rows and columns
    of a smaller tile: rows of 18, or 12, words meet in some banks, columns do not."""
    source = answers("solutions", EXERCISE)["turned"].replace("#define TILE 32", f"#define TILE {tile}")
    source = source.replace("#define ROWS 8", f"#define ROWS {rows}").replace("[TILE + 1]", f"[TILE + {pad}]")
    source = source.replace("turned(", "swizzled(")
    verdict = check(source, part(EXERCISE, "swizzle"))
    assert all(outcome.passed for outcome in verdict.cases), verdict
    assert (verdict.values[FRONTS.name], verdict.values[BYTES.name]) == (fronts, size)
    assert not verdict.passed


@pytest.mark.parametrize(("change", "says"), [
    (lambda text: text, "load of 4 bytes a lane, line 17: 32 lanes want 32 different words in 32 of 32 banks"),
    (lambda text: text.replace("tile[i][tx] =", "tile[i & 1][tx * 2 & 31] =").replace("[TILE + 1]", "[TILE + 2]"),
     "load of 4 bytes a lane, line 17: 32 lanes want 32 different words in 16 of 32 banks, at most 2 in one bank: 2 wavefronts"),
    (lambda text: text.replace("tile[i][tx] =", "tile[tx][i] =").replace("= tile[tx][i]", "= tile[i][tx]").replace("[TILE + 1]", "[TILE]"),
     "store of 4 bytes a lane, line 13: 32 lanes want 32 different words in 1 of 32 banks"),
    (lambda text: text.replace("[TILE + 1]", "[TILE]"), "in 1 of 32 banks, at most 32 in one bank: 32 wavefronts"),
    (lambda text: text.replace("__syncthreads();", "for (;;) __threadfence();"), "No picture: "),
    (lambda text: text.replace("first_row + i < rows && ", "").replace("first_row + i)", "first_row + i + 999)"), "No picture: "),
    (lambda text: text.replace("tile[i][tx] =", "tile[i][tx ="), "No picture: "),
    (lambda text: text.replace("#define TILE 32", "#define TILE (32)"), "No picture: turned does not run: TILE must be set"),
    (lambda text: text.replace("turned(", "twisted("), "No picture: "),
    (lambda text: "", "No picture: "),
])
@pytest.mark.slow
def test_a_picture_or_a_sentence_whatever_the_answer_is(change, says, answers):
    said = str(worst_banks(change(answers("solutions", EXERCISE)["turned"]), TURN))
    assert says in said
    assert len(said.splitlines()) == 1


def test_the_starter_has_no_picture_yet(answers):
    assert worst_banks(answers("exercises", EXERCISE)["turned"], TURN) == "No picture: turned does not use shared memory yet."
