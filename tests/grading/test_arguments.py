"""Whoever gives the instructor's commands a wrong name hears that first: before anything slow, with bubblewrap and without."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.grading import __main__ as command
from course_lib.grading.classroom import generate, workers
from course_lib.grading.sandbox import bubblewrap

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
RIGHT = {"exercise": EXERCISE, "student": "ada", "source": "inbox", "exchange": "exchange", "export": "inbox/export.csv"}


def subcommands():
    """Return the commands: name -> names of the arguments that each must have, or may have as an option."""
    parsers = next(action for action in command._parser()._actions if isinstance(action, argparse._SubParsersAction)).choices
    return {name: [action for action in parser._actions if action.dest != "help"] for name, parser in parsers.items()}


def taking(name):
    return [known for known, actions in subcommands().items() if name in {action.dest for action in actions}]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A repository with a class's folders, from which nobody may start anything slow."""
    for folder in ("exercises", "solutions", "nbgrader_config.py"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for folder in ("inbox", "exchange"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    for module, name in ((generate, "_run_nbgrader"), (workers, "_connected"), (bubblewrap, "start")):
        monkeypatch.setattr(module, name, lambda *_, name=name: pytest.fail(f"{name} was called"))
    return tmp_path


@pytest.fixture(params=["with bubblewrap", "without bubblewrap"])
def sandbox(request, monkeypatch):
    words = None if request.param == "with bubblewrap" else "bubblewrap is missing"
    monkeypatch.setattr(bubblewrap, "problem", lambda: words)


def said(name, capsys, options=(), **wrong):
    """Run a command with its right arguments but for some; return what it says is wrong."""
    given = RIGHT | wrong
    words = [given[action.dest] for action in subcommands()[name] if not action.option_strings]
    words += [f"--exercise={given['exercise']}"] if name == "collect" else []
    try:
        status = command.main([name, *words, *options])
    except SystemExit as ended:
        status = ended.code
    shown = capsys.readouterr()
    assert (status, shown.out) == (2, "")
    return shown.err


@pytest.mark.parametrize("exercise", ["99_none", "", "04", "../04_tiling", "*"])
@pytest.mark.parametrize("name", taking("exercise"))
def test_an_exercise_that_is_none_is_said_first(name, exercise, course, sandbox, capsys):
    err = said(name, capsys, exercise=exercise, source="nowhere", exchange="nowhere")
    assert err.startswith(f"there is no exercise {exercise!r}")
    assert EXERCISE in err
    assert len(err.splitlines()) == 1


def test_a_wrong_exercise_is_said_before_any_scheduler_is_asked(course, sandbox, capsys):
    assert "there is no exercise '99_none'" in said("grade", capsys, ["--dask", "tcp://127.0.0.1:9"], exercise="99_none")


@pytest.mark.parametrize(("name", "wrong", "words"), [
    ("collect", {"source": "nowhere"}, "there is no nowhere: give the folder"),
    ("hand-out", {"exchange": "nowhere"}, "there is no exchange nowhere: deploy/README.md says"),
    ("hand-back", {"exchange": "nowhere"}, "there is no exchange nowhere: deploy/README.md says"),
    ("collect", {"source": ""}, "argument source: it is empty, and must name a file or a folder"),
    ("hand-out", {"exchange": ""}, "argument exchange: it is empty"),
    ("hand-back", {"exchange": ""}, "argument exchange: it is empty"),
])
def test_a_folder_that_is_none_is_said_first(name, wrong, words, course, sandbox, capsys):
    assert words in said(name, capsys, **wrong)


@pytest.mark.parametrize(("name", "options", "words"), [
    ("grade", ["--dask", "localhost:8786"], "'localhost:8786' is no address of a Dask scheduler, such as tcp://127.0.0.1:8786"),
    ("grade", ["--dask", ""], "'' is no address"),
    ("grade", ["--seconds", "0"], "0 must be a positive number of seconds"),
    ("grade", ["--seconds", "nan"], "nan must be a positive number"),
    ("release", ["--to", "inbox"], "inbox cannot be written: name a zip file"),
    ("release", ["--to", "nbgrader_config.py/course.zip"], "cannot be written: name a zip file"),
])
def test_an_option_that_is_wrong_is_said_first(name, options, words, course, sandbox, capsys):
    assert words in said(name, capsys, options)


def test_a_release_says_at_once_that_this_is_no_git_repository(course, capsys):
    assert "is no git repository" in said("release", capsys)


def test_a_release_says_at_once_that_git_is_missing(course, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(course))
    assert "git is missing" in said("release", capsys)


@pytest.mark.parametrize("name", subcommands())
def test_a_folder_that_is_no_repository_is_said_first_and_gets_no_file(name, tmp_path, sandbox, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "is not the course's repository, as it has no folder solutions/" in said(name, capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "words"), [
    (["grade", "EXERCISE=99_none"], "there is no exercise '99_none'"),
    (["feedback", "EXERCISE="], "there is no exercise ''"),
    (["collect", "FROM="], "it is empty, and must name"),
    (["roster"], "argument export: it is empty, and must name"),
    (["hand-out", "EXCHANGE=no where"], "there is no exchange no where"),
])
def test_make_passes_on_what_it_was_given(arguments, words, tmp_path):
    (tmp_path / "venv").symlink_to(sys.prefix)             # make cuts a path at its spaces, and BIN has none in truth
    asked = subprocess.run(["make", "INSTALLED=1", f"PYTHON={sys.executable}", f"BIN={tmp_path}/venv/bin", *arguments],
                           cwd=ROOT, capture_output=True, text=True)
    assert asked.returncode == 2
    assert words in asked.stderr
