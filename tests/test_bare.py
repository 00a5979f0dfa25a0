"""`.ci/bare` shows a command no more than the README asks for, whatever this machine has and whatever is set."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN = (ROOT / ".ci/run").read_text(encoding="utf-8")


@pytest.fixture
def rich(tmp_path):
    """Return the environment of a machine that has more: programs, and variables that tests and contributors set."""
    for name in ("bwrap", "chromium", "node", "nvcc", "fc-list", "nvidia-smi", "gcc-99"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "COURSE_REQUIRE": "bubblewrap", "COURSE_CACHE": "/c",
                         "MPLBACKEND": "Agg", "PYTHONPATH": "/p", "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": "/x", "CC": "gcc-99",
                         "CUDA_HOME": "/cuda", "PIP_INDEX_URL": "https://packages.example/simple", "https_proxy": "http://proxy.example"}


def bare(environment, *words):
    return subprocess.run([ROOT / ".ci/bare", *words], env=environment, capture_output=True, text=True)


def test_no_program_is_there_that_the_readme_does_not_ask_for(rich):
    there = set(bare(rich, "sh", "-c", "ls ${PATH%%:*}").stdout.split())
    assert {"sh", "make", "git", "python3", "sed"} <= there
    assert not there & {"bwrap", "chromium", "node", "nvcc", "fc-list", "nvidia-smi", "c++", "g++", "apt-get", "pip"}
    if shutil.which("cc"):
        assert {"cc", "ld"} <= there
    assert not set(bare(rich, "--without-compiler", "sh", "-c", "ls $PATH").stdout.split()) & {"cc", "gcc", "clang", "c99", "as", "ld"}


def test_no_variable_is_there_that_no_administrator_sets(rich):
    found = dict(line.partition("=")[::2] for line in bare(rich, "env").stdout.splitlines())
    assert found["PIP_INDEX_URL"] == "https://packages.example/simple"
    assert found["https_proxy"] == "http://proxy.example"
    assert {"PATH", "HOME"} <= set(found)
    assert not {name for name in found if name.startswith(("COURSE_", "PYTHON", "XDG_", "CUDA", "MPL", "CC"))}
    assert ":" not in found["PATH"]


def test_the_home_is_empty_and_python_outlives_it(rich):
    done = bare(rich, "sh", "-c", "ls -A $HOME; touch $HOME/mine; python3 -c 'import sys, venv; print(sys.executable)'")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), "a line for Python, and none for the HOME"
    assert Path(done.stdout.strip()).exists()


def test_the_status_is_the_commands(rich):
    assert bare(rich, "sh", "-c", "exit 7").returncode == 7
    assert bare(rich).returncode == 2


def test_what_the_readme_promises_is_tested_before_more_is_installed():
    promises = [RUN.index(words) for words in (".ci/bare make test\n", ".ci/bare --without-compiler make units notebooks ")]
    more = [RUN.index(words) for words in ("more+=(bubblewrap)", "more+=(chromium)", "more+=(g++)", "export COURSE_REQUIRE")]
    assert max(promises) < min(more)
