"""Binder's files and the README's cell for Colab, as far as they can be looked at without building anything; the replays build them."""

import os
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tools.replay import binder, colab, lesson

ROOT = Path(__file__).resolve().parent.parent
BINDER = ROOT / ".binder"


def test_the_readme_has_one_cell_for_colab_with_one_place_for_the_address():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count(colab.ADDRESS) == 1
    cell = colab.cell()
    assert f'COURSE = "{ROOT.as_uri()}"' in cell
    assert "{COURSE}" in cell


def test_colabs_cell_asks_for_none_of_what_colab_has_its_own_version_of():
    cell = colab.cell()
    (install,) = re.findall(r"^%pip install (.*)$", cell, re.MULTILINE)
    assert install.split()[-2:] == ["./warp-by-warp", "anywidget"], "no extra: Colab brings the other widgets and Matplotlib itself"
    assert "cupy" not in cell
    assert "upgrade" not in cell


@pytest.mark.parametrize("text", [*colab.COLAB.split(), *colab.COLAB_GPU.split(), *binder.BINDER.split()])
def test_other_peoples_environments_are_named_to_the_version(text):
    (part,) = Requirement(text).specifier
    assert part.operator == "=="


def test_binder_installs_the_lessons_at_our_versions_and_no_cupy():
    lines = [line.partition("#")[0].strip() for line in (BINDER / "requirements.txt").read_text(encoding="utf-8").splitlines()]
    constraint, *rest = filter(None, lines)
    assert (BINDER / constraint.removeprefix("-c ")).resolve() == ROOT / "constraints.txt"
    assert rest == ["-e .[lab]", "notebook"]


def test_binders_python_is_one_that_the_course_runs_on():
    python = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    asked = re.search(r'requires-python = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[1]
    assert SpecifierSet(asked).contains(python)


def test_binder_runs_a_script_that_is_there():
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    command = script.read_text(encoding="utf-8").splitlines()[-1].split()
    assert command == ["exec", "python", "tools/setup.py", "prepare"]
    assert "prepare" in (ROOT / "tools/setup.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("change", "expected"), [
    ({}, True),
    ({"failed": [[3, "NameError: x"]]}, False),
    ({"widgets": 0}, False),
    ({"moved": [["Live", True], ["Player", False]]}, False),
])
def test_a_replay_is_right_only_when_all_ran_and_every_move_was_answered(change, expected):
    result = {"lesson": "a.ipynb", "seconds": 1.0, "failed": [], "widgets": 2, "moved": [["Live", True]]}
    assert lesson.right(result | change) is expected
