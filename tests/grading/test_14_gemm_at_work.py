"""Exercise 14 beyond what every exercise is tested for: part 1 against the simulator, sentences for wrong counts, lines that gates name."""

from pathlib import Path

import pytest

from course_lib import simt
from course_lib.check.layer import LayerCase
from course_lib.grading import check, part
from course_lib.grading.exercises.e14_gemm_at_work import passes
from course_lib.grading.judge.spec import SECTORS_LOADED, SECTORS_STORED

TESTS = Path(__file__).parents[1]
EXERCISE = "14_gemm_at_work"
MAIN = part(EXERCISE, "main")


def wrong(name):
    return (TESTS / f"wrong_kernels/{EXERCISE}/{name}.cu").read_text(encoding="utf-8")


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("M", "N"), [(64, 64), (32, 50), (64, 10), (96, 8)])
def test_part_1_counts_what_the_kernels_of_part_2_move_behind_their_sums(M, N, answers, starters):
    case = LayerCase("rows begin at sectors", M, N, 5, pad=-N % 8)
    moved = []
    for text in (starters[EXERCISE, "main"], answers("solutions", EXERCISE)["layer"]):
        report = simt.launch(text, "layer", MAIN.grid(case, {}), MAIN.block({}), MAIN.operation.trial(case).args)
        sums = max(number for number, line in enumerate(text.splitlines(), 1) if "__syncthreads" in line)
        moved.append(sum(counts.get(SECTORS_LOADED, 0) + counts.get(SECTORS_STORED, 0)
                         for line, counts in report.lines.items() if line > sums))
    assert tuple(moved) == passes(M, N, 4)


@pytest.mark.parametrize(("given", "got", "says"), [
    ((8, 10, 4), (60, 20), "N / 8 of them, rounded up"),
    ((64, 64, 4), (6 * 4096, 640), "a sector has 8"),
    ((64, 64, 4), (4096, 4096), "So many elements has C"),
    ((64, 64, 4), (5 * 512, 640), "The bias is missing"),
    ((64, 64, 4), (5 * 512 + 8, 640), "Each row of C needs the bias again"),
    ((64, 64, 4), (3 * 512, 640), "the stores alone"),
    ((64, 64, 4), (4 * 512, 640), "The third kernel moves C too"),
    ((64, 64, 4), (3072, 512), "it loads the bias as well"),
    ((64, 64, 4), (3072, 1024), "keeps it for its `rows` elements"),
    ((64, 64, 4), (3072, 520), "not once in all"),
    ((64, 64, 4), (3072, 1536), "never loads C"),
    ((1, 1, 1), (6, 3), "never loads C"),
    ((64, 64, 4), (1, 2), ""),
])
def test_a_wrong_count_is_explained(given, got, says):
    guess = part(EXERCISE, "passes").guess(given, got)
    assert says in guess
    assert bool(guess) == bool(says)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gate", "says"), [
    ("bias_for_each_element", "loaded", "const float z = acc[i] + bias[col];"),
    ("activation_in_a_second_pass", "loaded", "*c = *c < 0.0f ? 0.0f : *c;"),
])
def test_a_gate_names_the_line_behind_the_sums(name, gate, says):
    finding = next(f for f in check(wrong(name), MAIN).findings if f"sectors {gate}" in f.message)
    assert says in finding.source_line


@pytest.mark.slow
@pytest.mark.parametrize(("below", "message"), [("fmaxf(z, 0.0f)", "must be NaN too"), ("z > 0.0f ? z : 0.0f", "must be NaN too"),
                                                ("!(z < 0.0f) ? z : 0.0f", "")])
def test_only_an_activation_that_keeps_nan_passes(below, message, answers):
    verdict = check(answers("solutions", EXERCISE)["layer"].replace("z < 0.0f ? 0.0f : z;", f"{below};"), MAIN)
    assert [message in finding.message for finding in verdict.findings] == [True] * bool(message)
    assert [case.name for case in verdict.cases if not case.passed] == ["a NaN in A"] * bool(message)
