"""`python -m tools` lists every tool, quickly, and each of them says what it does; an error is a sentence."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tools import ROOT, again
from tools.__main__ import cli
from tools.options import Names

FOLDER = ROOT / "tools"
# What runs before anything is installed, or in other people's environments.
PLAIN = {"tools.setup", "tools.my_course", "tools.driver", "tools.obstacles", "tools.replay.lesson"}
FILES = [path for path in FOLDER.rglob("*.py") if path.name[0] != "_"]
MODULES = sorted({".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES} - PLAIN)
COMMANDS = [[group.name, name] for group in cli.groups().values() for name in group.lines()] + [[name] for name in cli.lines()]


def test_the_list_names_every_module_with_a_command():
    listed = {f"tools.{'.'.join(words)}".replace("-", "_") for words in COMMANDS}
    found = {name for name in MODULES if any(isinstance(value, click.Command) for value in vars(importlib.import_module(name)).values())}
    assert found <= listed
    assert len(found) > 20


def test_listing_imports_no_tool():
    code = "import sys; sys.argv[1:] = ['--help']\nimport tools.__main__ as t\ntry: t.main()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    words, _, modules = done.stdout.strip().rpartition("\n")
    assert not {"numpy", "course_lib", "nbformat", "playwright"} & set(modules.split())
    for command in COMMANDS:
        assert " ".join(command) in words


def test_every_command_has_one_line():
    lines = [line for group in [cli, *cli.groups().values()] for line in group.lines().values()]
    assert [line for line in lines if not 10 < len(line) < 60] == []


@pytest.mark.sampled(test=12)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_says_what_it_does(words):
    shown = CliRunner().invoke(cli, [*words, "--help"])
    assert shown.exit_code == 0, shown.output
    assert "Usage: " in shown.output


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize(("words", "sentence"), [
    (["new-exercise", "topic"], "cannot be an exercise"),
    (["lesson", "screenshot", "notebooks/04_tiling.ipynb"], "This needs Chromium"),
    (["record", "again"], "there is no GPU to measure on"),
    (["record", "ballast"], "there is no GPU to measure on"), (["record", "closing"], "there is no GPU to measure on"),
    (["record", "rungs"], "there is no GPU to measure on"),
    (["record", "micro", "--only", "micro,macro"], "there is no macro; there are micro, traffic, vectors"),
    (["page", "sedes"], "No such command 'sedes'"),
])
def test_an_error_is_a_sentence(words, sentence, tmp_path):
    variables = {**os.environ, "PATH": str(tmp_path), "COURSE_BACKEND": "sim", "OUT": str(tmp_path)}
    variables.pop("CHROMIUM", None)
    done = subprocess.run(again(*words), cwd=ROOT, capture_output=True, text=True, env=variables)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_names_have_commas_between_them():
    assert Names("a", "b").convert("b,a", None, None) == ("b", "a")
    assert Names().convert("", None, None) == ()


def test_what_runs_before_anything_is_installed_imports_only_python(tmp_path):
    for name in ("setup", "my_course", "driver", "obstacles"):
        code = f"import runpy; runpy.run_path({str(FOLDER / name) + '.py'!r})"
        subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, check=True)
    assert Path(FOLDER, "__init__.py").read_text(encoding="utf-8").count("import click") == 0
