"""What stands in the way of installing the course is said in one sentence, and leaves nothing half installed."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import obstacles

ROOT = Path(__file__).resolve().parent.parent
CAN_MOUNT = shutil.which("unshare") and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
mounts = pytest.mark.skipif(not CAN_MOUNT, reason="this test mounts a small disk: run it as root, where `unshare --mount` works")


@pytest.mark.parametrize(("printed", "words"), [
    # what pip 23.2 and 26.3 print
    ("WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by "
     "'NewConnectionError('<x>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/pip/\n"
     "ERROR: Cannot install pip because these package versions have conflicting dependencies.", "could not reach the package index"),
    ("ERROR: Could not find a version that satisfies the requirement pip (from versions: none)\nERROR: No matching distribution found",
     "could not reach the package index"),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n", "The disk is full"),
    ("ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/c/.venv/lib'", "may not be written"),
    ("Error: [Errno 13] Permission denied: '/c/.venv'", "may not be written"),
    ("/c/.venv/bin/python: No module named pip", "no pip in .venv: remove it with `make clean`"),
    ("/usr/bin/python3: No module named venv", "sudo apt install python3-venv"),
    ("The virtual environment was not created successfully because ensurepip is not\navailable.", "sudo apt install python3-venv"),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "PIP_CERT"),
])
def test_what_pip_and_python_print_is_explained_in_a_sentence(printed, words):
    said = obstacles.explain(printed)
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize("printed", [
    "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'x'\nERROR: ResolutionImpossible: for help visit",
    "Failed to establish a new connection: [Errno 13] Permission denied",
    "ERROR: No matching distribution found for numpy==99",
])
def test_what_is_not_known_is_not_guessed(printed):
    assert obstacles.explain(printed) == ""


def interpreter(path, answer, status=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{answer}'\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_a_venv_is_right_where_it_was_made_by_a_python_that_is_there(tmp_path):
    venv, python = tmp_path / ".venv", tmp_path / ".venv/bin/python"
    assert obstacles.wrong_venv(venv, python) == ""
    venv.mkdir()
    assert obstacles.wrong_venv(venv, python) == "", "an empty folder can be filled"
    interpreter(python, "3 11 0")
    for text in ("home = /usr/bin\n", f"command = /usr/bin/python3 -m venv --copies {venv}\n"):
        (venv / "pyvenv.cfg").write_text(text)
        assert obstacles.wrong_venv(venv, python) == ""


@pytest.mark.parametrize(("spoil", "words"), [
    (lambda venv: interpreter(venv / "bin/python", "3 10 13"), ".venv was made with Python 3.10.13, and the course needs 3.11 or newer"),
    (lambda venv: interpreter(venv / "bin/python", "no such library", 127), "The Python of .venv does not run"),
    (lambda venv: (venv / "bin").mkdir(parents=True) or (venv / "bin/python").symlink_to("/python/that/is/gone"), "does not run"),
    (lambda venv: (venv / "include").mkdir(parents=True), "does not run"),
    (lambda venv: venv.write_text("x"), ".venv is no folder"),
    (lambda venv: interpreter(venv / "bin/python", "3 12 1") and (venv / "pyvenv.cfg").write_text(
        "command = /usr/bin/python3 -m venv /old place/.venv\n"), ".venv was made for /old place (was the folder moved or copied?)"),
])
def test_an_old_venv_is_not_used(tmp_path, spoil, words):
    spoil(tmp_path / ".venv")
    said = obstacles.wrong_venv(tmp_path / ".venv", tmp_path / ".venv/bin/python")
    assert words in said
    assert said.endswith("remove it with `make clean`, then type the same command again.")


INSTALLING = """
import sys
from pathlib import Path
from tools.obstacles import one_at_a_time
with one_at_a_time(Path(sys.argv[1]), lambda words: print(words, flush=True)):
    print("in", flush=True)
    sys.stdin.read()
"""


def installing(folder):
    return subprocess.Popen([sys.executable, "-c", INSTALLING, folder], cwd=ROOT, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def test_the_second_of_two_waits_and_says_so(tmp_path):
    with installing(tmp_path) as first:
        assert first.stdout.readline() == "in\n"
        with installing(tmp_path) as second:
            assert "another `make` is installing the course in this folder: waiting" in second.stdout.readline()
            first.stdin.close()
            assert second.stdout.readline() == "in\n"
            second.stdin.close()
    assert not list(tmp_path.iterdir())


def test_who_was_killed_keeps_nobody_waiting(tmp_path):
    with installing(tmp_path) as first:
        assert first.stdout.readline() == "in\n"
        first.kill()
    with installing(tmp_path) as second:
        assert second.stdout.readline() == "in\n"
        second.stdin.close()


@pytest.fixture
def clone(tmp_path):
    """The files that `make lab` needs before pip has done its work, in a folder as readers have them."""
    folder = tmp_path / "Zürich, 2nd try"
    (folder / "tools").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "tools/__init__.py", "tools/setup.py", "tools/driver.py",
                 "tools/my_course.py", "tools/obstacles.py"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def make(folder, target="lab", before=(), **variables):
    command = [*before, "make", "-C", folder, f"PYTHON={Path(sys.base_prefix, 'bin/python3')}", target]
    ours = ("MAKEFLAGS", "MAKEOVERRIDES", "INSTALLED")        # of the make that runs these tests
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(command, env=inherited | variables, capture_output=True, text=True)


@pytest.mark.slow
def test_without_a_network_one_sentence_says_so_and_nothing_stays(clone):
    asked = make(clone, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_FIND_LINKS="", PIP_RETRIES="1", PIP_CONFIG_FILE="/dev/null")
    assert asked.returncode == 2
    said = asked.stderr.strip().splitlines()
    assert said[0].startswith("pip could not reach the package index, and installing needs a network: connect to one")
    assert len(said) == 2, "and make's own line"
    assert not (clone / ".venv").exists()


def mounted(options):
    """Return the beginning of a command line in whose world something is mounted."""
    return ["unshare", "--mount", "sh", "-c", f"mount {options} && exec \"$@\"", "sh"]


@mounts
@pytest.mark.parametrize("target", ["lab", "dev"])
def test_on_a_full_disk_one_sentence_says_so_first(clone, target, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    before = [*mounted(f"-t tmpfs -o size=8m none '{small}'"), "sh", "-c", 'cp -R "$0" "$1" && shift && exec "$@"', clone, small / "c"]
    asked = make(small / "c", target, before)
    assert asked.returncode == 2
    assert asked.stderr.strip().splitlines()[0].endswith("GB left: free some space, then type the same command again.")


@mounts
@pytest.mark.parametrize("target", ["lab", "dev"])
def test_in_a_folder_that_may_not_be_written_one_sentence_says_so_first(clone, target):
    asked = make(clone, target, mounted(f"--bind -o ro '{clone}' '{clone}'"))
    assert asked.returncode == 2
    assert asked.stderr.strip().splitlines()[0].startswith(f"You may not write into {clone}: clone or copy the course into")


def test_a_disk_with_room_and_a_folder_of_ones_own_are_no_obstacles(tmp_path):
    assert obstacles.no_room(tmp_path, 0) == obstacles.not_writable(tmp_path) == ""
    assert "takes up to 1000.0 GB" in obstacles.no_room(tmp_path, 1e6) or shutil.disk_usage(tmp_path).free > 1e12
    assert obstacles.explain(str(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x"))) == obstacles.FULL
