"""docs/own-exercise.md: it shows what the tool writes, and following it in a copy of the course gives an exercise that is graded."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from tools import new_exercise, required

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-exercise.md").read_text(encoding="utf-8")
NAME = "60_my_topic"
COPIED = ("course_lib", "solutions", "exercises", "docs", "tools", "tests/grading", "tests/wrong_kernels", "tests/right_kernels")


def blocks(language):
    """Return the page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_shows_what_the_tool_writes():
    assert blocks("python") == [(new_exercise.TEMPLATE / "spec.py").read_text(encoding="utf-8")]
    cells = json.loads((new_exercise.TEMPLATE / "solution.ipynb").read_text(encoding="utf-8"))["cells"]
    answer = next("".join(cell["source"]) for cell in cells if cell["id"] == "main-answer")
    assert blocks("cuda") == [f"{answer}\n", (new_exercise.TEMPLATE / "wrong/second_unguarded.cu").read_text(encoding="utf-8")]
    assert new_exercise.EXAMPLE not in re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("name", ["topic", "6_topic", "60_Topic", "60_a/../b", "60-topic"])
def test_a_name_that_is_none_is_refused(name, tmp_path):
    with pytest.raises(CourseError, match="cannot be an exercise"):
        new_exercise.begin(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_kept(tmp_path):
    paths = new_exercise.begin(NAME, tmp_path)
    assert all((tmp_path / path).is_file() for path in paths)
    assert not [path for path in paths if new_exercise.EXAMPLE in (tmp_path / path).read_text(encoding="utf-8")]
    for path in paths[1:]:
        (tmp_path / path).unlink()
    mine = tmp_path / paths[0]
    mine.write_text("mine")
    with pytest.raises(CourseError, match="there already"):
        new_exercise.begin(NAME, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "mine"


@pytest.fixture
def course(tmp_path):
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@required.bubblewrap
def test_following_the_page_gives_an_exercise_that_is_graded(course):
    def run(command):
        done = subprocess.run(command, shell=True, cwd=course, env=os.environ | {"PYTHONPATH": str(course)}, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    python = shlex.quote(sys.executable)
    in_make = {"make exercises": f"{python} -m course_lib.grading.classroom.generate",
               **{f"make {name} EXERCISE={NAME}": f"{python} -m course_lib.grading {name} {NAME}" for name in ("grade", "feedback")},
               "make collect FROM=inbox": f"{python} -m course_lib.grading collect inbox"}
    said = {}
    for line in "".join(blocks("sh")).splitlines():
        command = line.split("#")[0].strip()
        if "jupyter lab" not in command:
            said[command] = run(in_make.get(command, command.replace(".venv/bin/python", python)))
    assert not [command for command in said if command.startswith("make") and command not in in_make]
    tested = next(words for command, words in said.items() if "pytest" in command)
    assert re.search(r"^1[1-9] passed", tested, re.MULTILINE), tested
    assert "exercises/: 1 files changed" in said["make exercises"]
    promised = re.search(r"# (ada: .*?); (bob: .*)$", PAGE, re.MULTILINE)
    assert {promised[1], promised[2]} <= set(said[f"make grade EXERCISE={NAME}"].splitlines())
    assert "2 pages" in said[f"make feedback EXERCISE={NAME}"]
