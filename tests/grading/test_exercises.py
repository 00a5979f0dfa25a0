"""Every exercise: the reference and other right answers pass, the starter fails, wrong answers fail for their stated reason.

Answers that must fail are in `tests/wrong_kernels/EXERCISE/`, right ones that differ from the solution in `tests/right_kernels/EXERCISE/`;
a header says for which part, and for which finding. Suffixes: .cu, .c (loops for the CPU), .py, .patch (what is changed in the solution).
"""

import json

import pytest
from answer_files import TESTS, answer, files, header

from course_lib.grading import FunctionSpec, all_parts, check, part

EXERCISES = sorted({exercise for exercise, _ in all_parts()})


def name_of(path):
    return f"{path.parent.name}-{path.stem}"


def test_all_folders_belong_to_exercises():
    assert {path.parent.name for folder in ("wrong_kernels", "right_kernels") for path in files(folder)} == set(EXERCISES)
    assert {path.name for path in (TESTS.parent / "solutions").iterdir()} == set(EXERCISES)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_each_exercise_has_four_wrong_answers_and_a_different_right_one(exercise):
    wrong = [path for path in files("wrong_kernels") if path.parent.name == exercise]
    assert len(wrong) >= 4
    assert [path for path in files("right_kernels") if path.parent.name == exercise]
    assert all(header(path)[1] for path in wrong), "each says what it must fail for"


@pytest.mark.slow
@pytest.mark.sampled(slow=16)
@pytest.mark.parametrize("path", files("wrong_kernels"), ids=name_of)
def test_a_wrong_answer_fails_for_its_reason(path):
    name, kind, words = header(path)
    verdict = check(answer(path), part(path.parent.name, name))
    assert not verdict.passed
    assert any(finding.kind == kind and words in finding.message for finding in verdict.findings), verdict


@pytest.mark.slow
@pytest.mark.sampled(slow=5)
@pytest.mark.parametrize("path", files("right_kernels"), ids=name_of)
def test_a_different_right_answer_passes(path):
    source, spec = answer(path), part(path.parent.name, header(path)[0])
    for seed in (None, 7, 8):
        verdict = check(source, spec, seed=seed)
        assert verdict.passed, verdict


@pytest.mark.slow
@pytest.mark.sampled(slow=8)
@pytest.mark.parametrize("spec", all_parts().values(), ids=lambda spec: f"{spec.exercise}-{spec.part}")
def test_the_reference_passes_and_reaches_what_the_statement_says(spec, answers):
    answer = answers("solutions", spec.exercise)[spec.entry]
    shown, drawn = check(answer, spec), check(answer, spec, seed=5)
    assert shown.passed, shown
    assert drawn.passed, drawn
    assert len(drawn.cases) > len(shown.cases), "the seed draws further inputs"
    if not isinstance(spec, FunctionSpec):
        assert shown.values == pytest.approx({gate.name: gate.achievable for gate in spec.gates}, rel=1e-4)


@pytest.mark.slow
@pytest.mark.sampled(slow=8)
@pytest.mark.parametrize("spec", all_parts().values(), ids=lambda spec: f"{spec.exercise}-{spec.part}")
def test_the_starter_fails_and_stands_where_the_statement_says(spec, starters):
    verdict = check(starters[spec.exercise, spec.part], spec)
    assert not verdict.passed
    if not isinstance(spec, FunctionSpec):
        known = {gate.name: gate.starter for gate in spec.gates if gate.starter is not None}
        assert verdict.values == pytest.approx(known, rel=1e-4)
        if known:
            assert {finding.kind for finding in verdict.findings} == {"gate"}, verdict
            assert all(outcome.passed for outcome in verdict.cases)


@pytest.mark.parametrize("variant", ["a", "b"])
@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_statement_has_the_numbers_of_the_specs(exercise, variant):
    other = f"variant-{'ab'.replace(variant, '')}"
    cells = json.loads((TESTS.parent / f"solutions/{exercise}/{exercise}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells
                   if cell["cell_type"] == "markdown" and other not in cell["metadata"].get("tags", ()))
    parts = {key: spec for (name, key), spec in all_parts().items() if name == exercise}
    left_out = {key for key in parts if (key.endswith("-b") if variant == "a" else f"{key}-b" in parts)}
    for spec in (spec for key, spec in parts.items() if key not in left_out and not isinstance(spec, FunctionSpec)):
        assert spec.entry in text
        for gate in spec.gates:
            start = "–" if gate.starter is None else f"{gate.starter:.4f}"
            assert f"| {start} | {gate.achievable:.4f} | at most {gate.limit:.4f} |" in text
