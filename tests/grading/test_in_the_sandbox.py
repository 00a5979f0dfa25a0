"""What is right here is right in the sandbox: an exercise's solution gets full marks there, its starter none, for the same reasons."""

import pytest
from answer_files import answer, files, header

from course_lib.grading import all_parts, check, part
from course_lib.grading.classroom import judging
from course_lib.grading.sandbox.sandboxed import Sandboxed
from course_lib.toolchain import disk
from tools import required

pytestmark = required.bubblewrap
EXERCISES = sorted({exercise for exercise, _ in all_parts()})


@pytest.fixture(scope="module")
def cache():
    folder = disk.cache_folder().parent.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def specs(exercise):
    return {name: spec for (known, name), spec in all_parts().items() if known == exercise}


@pytest.mark.slow
@pytest.mark.sampled(slow=3)
@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_solution_gets_full_marks_and_the_starter_none(exercise, answers, starters, cache):
    solved = answers("solutions", exercise)
    results = judging.judge({name: solved[spec.entry] for name, spec in specs(exercise).items()}, exercise, seed=5, cache=cache)
    assert {name: result["told"] for name, result in results.items() if not result["passed"]} == {}
    results = judging.judge({name: starters[exercise, name] for name in specs(exercise)}, exercise, seed=5, cache=cache)
    here = {name: check(starters[exercise, name], spec) for name, spec in specs(exercise).items()}
    assert {name: result["passed"] for name, result in results.items()} == dict.fromkeys(results, False)
    assert {name: result["told"] for name, result in results.items()} == {name: repr(verdict) for name, verdict in here.items()}


@pytest.fixture(scope="module")
def sandbox(cache):
    with Sandboxed(cache=cache) as engine:
        yield engine


@pytest.mark.slow
@pytest.mark.sampled(slow=6)
@pytest.mark.parametrize("path", files("wrong_kernels"), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_wrong_answer_is_told_the_same_as_in_the_notebook(path, sandbox):
    text, spec = answer(path), part(path.parent.name, header(path)[0])
    sandbox.begin()
    assert repr(check(text, spec, engine=sandbox)) == repr(check(text, spec))
