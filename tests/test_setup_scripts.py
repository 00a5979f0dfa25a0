"""`make lab` up to the point where JupyterLab opens: what it says, what it installs, what it does the second time."""
import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tools import driver

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def setup(monkeypatch, tmp_path):
    """Load tools/setup.py with an empty .venv of its own and a pip that only notes what it was asked."""
    spec = importlib.util.spec_from_file_location("course_setup", ROOT / "tools" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(module, "find_gpu", lambda: None)
    monkeypatch.delenv("COURSE_BACKEND", raising=False)
    module.VENV.mkdir()
    module.asked, module.prepare_in_truth = [], module.prepare
    monkeypatch.setattr(module.my_course, "make", lambda root: ["3 lessons were put there"])
    monkeypatch.setattr(module, "pip", lambda *arguments: module.asked.append(arguments))
    monkeypatch.setattr(module, "prepare", lambda python, prefix: module.asked.append("prepare"))
    return module


def installed(what):
    """Return what is asked of pip, and done with what it brings, to install the course."""
    return [("install", "--upgrade", "pip"), ("install", "--no-compile", "--editable", what), "prepare"]


def test_second_installation_asks_nothing(setup, capsys):
    setup.install("course", setup.Steps(4))
    assert setup.asked == installed(".[lab]")
    setup.install("course", setup.Steps(4))
    assert setup.asked == installed(".[lab]")
    assert "1/4 the course is installed" in capsys.readouterr().out


def test_tests_need_more_than_the_lab_and_bring_it_along(setup):
    setup.install("course", setup.Steps(4))
    setup.install("dev", setup.Steps(2))
    assert setup.asked == installed(".[lab]") + installed(".[dev]")
    setup.stamp("course").unlink()
    setup.stamp("dev").unlink()
    setup.install("dev", setup.Steps(2))
    setup.install("course", setup.Steps(4))
    assert setup.asked == installed(".[lab]") + 2 * installed(".[dev]"), "what the tests need includes the course"


def test_the_first_import_waits_for_no_compiling_and_no_fonts(setup, monkeypatch, tmp_path):
    (tmp_path / "course_lib/simt/codegen").mkdir(parents=True)
    (tmp_path / "course_lib/simt/codegen/library.py").write_text("def runtime():\n    open('compiled', 'w').close()\n")
    (tmp_path / "course_lib/room.py").write_text("answer = 42\n")
    (tmp_path / "course_lib/for_another_python.py").write_text("print 42\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setattr(setup, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))         # for Matplotlib; the .venv's own is empty
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "fonts"))
    setup.prepare_in_truth(setup.PYTHON, setup.VENV)
    assert [found.name.split(".")[0] for found in tmp_path.glob("course_lib/__pycache__/*")] == ["room"]
    assert list(tmp_path.glob("fonts/fontlist*.json"))
    assert (tmp_path / "compiled").exists()
    assert '"fetchNews": "false"' in (tmp_path / ".venv/share/jupyter/lab/settings/overrides.json").read_text()


def test_new_versions_are_installed(setup, monkeypatch, tmp_path):
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    setup.install("course", setup.Steps(4))
    with (tmp_path / "constraints.txt").open("a") as file:
        file.write("zzz==1\n")
    setup.install("course", setup.Steps(4))
    assert setup.asked == 2 * installed(".[lab]")


def test_a_failed_installation_shows_pip_and_is_tried_again(setup, monkeypatch):
    monkeypatch.setattr(setup, "pip", lambda *arguments: "ERROR: no network")
    with pytest.raises(SystemExit, match="no network"):
        setup.install("course", setup.Steps(4))
    assert not setup.is_installed("course")


@pytest.fixture
def fresh(setup, monkeypatch):
    """Let .venv be made by this run, without the pip that is in it."""
    setup.VENV.rmdir()
    monkeypatch.setattr(setup, "make_venv", lambda *_: setup.VENV.mkdir(exist_ok=True) or True)
    monkeypatch.setattr(setup, "open_lab", lambda steps: setup.asked.append("lab"))
    return setup


def stopped(*_):
    raise KeyboardInterrupt


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("pip", "words"), [
    (lambda *_: "pip could not reach the package index", "could not reach the package index"),
    (stopped, "Stopped; the same command begins again"),
    (full, "The disk is full: free some space"),
])
def test_what_fails_or_is_stopped_leaves_no_venv_that_it_made(fresh, monkeypatch, pip, words):
    works = fresh.pip
    monkeypatch.setattr(fresh, "pip", pip)
    with pytest.raises(SystemExit, match=words):
        fresh.main("lab", 4)
    assert not fresh.VENV.exists()
    monkeypatch.setattr(fresh, "pip", works)
    fresh.main("lab", 4)
    assert fresh.asked == [*installed(".[lab]"), "lab"]


def test_what_fails_leaves_a_venv_that_was_there(setup, monkeypatch):
    monkeypatch.setattr(setup, "make_venv", lambda *_: False)
    monkeypatch.setattr(setup, "pip", lambda *_: "no network")
    with pytest.raises(SystemExit, match="no network"):
        setup.main("course", 2)
    assert setup.VENV.exists()


def test_an_update_that_fails_is_not_taken_for_the_version_before_it(setup, monkeypatch, tmp_path):
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    setup.install("course", setup.Steps(4))
    before = (tmp_path / "constraints.txt").read_text()
    (tmp_path / "constraints.txt").write_text(before + "zzz==1\n")
    monkeypatch.setattr(setup, "pip", lambda *_: "the disk is full")
    with pytest.raises(SystemExit, match="full"):
        setup.install("course", setup.Steps(4))
    (tmp_path / "constraints.txt").write_text(before)
    assert not setup.is_installed("course"), "half of it may be the new versions"


def fake_python(tmp_path, answer, status):
    program = tmp_path / "python3"
    program.write_text(f"#!/bin/sh\necho '{answer}'\nexit {status}\n")
    program.chmod(0o755)
    return program


def test_a_python_without_venv_leaves_nothing_and_says_what_to_install(setup, monkeypatch, tmp_path):
    monkeypatch.setattr(setup, "PYTHON", setup.VENV / "bin" / "python")
    monkeypatch.setattr(setup.sys, "executable", str(fake_python(tmp_path, "ensurepip is not available", 1)))
    with pytest.raises(SystemExit, match="sudo apt install python3-venv"):
        setup.make_venv("course", setup.Steps(4))
    assert not setup.VENV.exists()


def test_a_venv_that_does_not_run_is_not_used(setup, monkeypatch, tmp_path):
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setattr(setup, "PYTHON", fake_python(tmp_path, "no such library", 127))
    (setup.VENV / "pyvenv.cfg").touch()
    with pytest.raises(SystemExit, match=r"Python of \.venv does not run.*make clean"):
        setup.make_venv("course", setup.Steps(4))


def test_on_macos_the_course_is_installed_and_says_what_needs_the_dev_container(setup, monkeypatch, capsys):
    monkeypatch.setattr(setup.sys, "platform", "darwin")
    monkeypatch.setattr(setup, "open_lab", lambda steps: None)
    setup.main("lab", 4)
    assert setup.asked == installed(".[lab]")
    assert "to edit a kernel, open this folder in its dev container" in capsys.readouterr().out


@pytest.mark.parametrize(("what", "copies"), [("lab", True), ("course", True), ("dev", False)])
def test_readers_get_their_copies_and_those_who_only_test_do_not(setup, monkeypatch, capsys, what, copies):
    opened = []
    monkeypatch.setattr(setup, "open_lab", lambda steps: opened.append(capsys.readouterr().out))
    setup.main(what, 4)
    said = opened[0] if what == "lab" else capsys.readouterr().out
    assert ("    3 lessons were put there\n" in said) is copies


def test_the_lab_opens_the_readers_copy(setup, monkeypatch, tmp_path):
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    opened = []
    monkeypatch.setattr(setup, "compile_beside", lambda: opened.append("kernels are compiled beside it"))
    monkeypatch.setattr(setup.os, "execv", lambda program, command: opened.append(command))
    monkeypatch.setattr(setup.os, "chdir", lambda folder: None)
    with pytest.raises(SystemExit, match="my_course/notebooks/00_start_here.ipynb is missing: is this a whole checkout"):
        setup.open_lab(setup.Steps(4))
    (tmp_path / "my_course/notebooks").mkdir(parents=True)
    (tmp_path / "my_course/notebooks/00_start_here.ipynb").touch()
    setup.open_lab(setup.Steps(4))
    said, command = opened
    assert said == "kernels are compiled beside it"
    assert "--LabApp.default_url=/lab/tree/my_course/notebooks/00_start_here.ipynb" in command


@pytest.mark.parametrize(("error", "says"), [(OSError(28, "No space left on device"), "The disk is full"),
                                             (OSError(5, "Input/output error"), "could not be copied to my_course/: .*Input/output error")])
def test_copies_that_cannot_be_made_end_with_what_to_do(setup, monkeypatch, error, says):
    def make(root):
        raise error
    monkeypatch.setattr(setup.my_course, "make", make)
    with pytest.raises(SystemExit, match=says):
        setup.main("course", 2)


def test_copies_need_a_folder_that_may_be_written(setup, monkeypatch):
    def make(root):
        raise PermissionError(13, "Permission denied", "my_course")
    monkeypatch.setattr(setup.my_course, "make", make)
    monkeypatch.setattr(setup, "not_writable", lambda folder: "You may not write into it")
    with pytest.raises(SystemExit, match="You may not write into it"):
        setup.main("course", 2)


def test_on_macos_the_tests_are_for_the_dev_container(setup, monkeypatch):
    monkeypatch.setattr(setup.sys, "platform", "darwin")
    with pytest.raises(SystemExit, match="dev container"):
        setup.main("dev", 2)
    assert setup.asked == []


H200 = driver.Gpu("NVIDIA H200", "580.159.04", None, (9, 0))


@pytest.mark.parametrize(("gpu", "says"), [
    (None, "no NVIDIA driver here"),
    (driver.Gpu(cuda=(13, 0), problem="an NVIDIA driver is installed but sees no GPU"), "sees no GPU: the simulator"),
    (driver.Gpu("Tesla K80", "470.57.02", None, (3, 7)), "Tesla K80 with driver 470.57.02 is too old for CUDA 12"),
])
def test_without_a_usable_gpu_one_line_says_so_and_nothing_is_installed(setup, monkeypatch, capsys, gpu, says):
    monkeypatch.setattr(setup, "find_gpu", lambda: gpu)
    setup.look_for_gpu(setup.Steps(4))
    out = capsys.readouterr().out
    assert says in out
    assert "every lesson works" in out
    assert out.count("\n") == 1
    assert setup.asked == []


def test_the_simulator_can_be_asked_for(setup, monkeypatch, capsys):
    monkeypatch.setattr(setup, "find_gpu", lambda: H200)
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    setup.look_for_gpu(setup.Steps(4))
    assert "COURSE_BACKEND=sim" in capsys.readouterr().out
    assert setup.asked == []


def test_a_gpu_gets_the_cupy_that_fits_and_is_tried(setup, monkeypatch, capsys):
    monkeypatch.setattr(setup, "find_gpu", lambda: H200)
    monkeypatch.setattr(setup, "try_gpu", lambda: "NVIDIA H200 ran a tiny kernel and its answer was right")
    setup.look_for_gpu(setup.Steps(4))
    assert setup.asked == [("install", "--editable", ".[gpu13]")]
    assert "NVIDIA H200 with driver 580.159.04, compute capability 9.0" in capsys.readouterr().out
    setup.look_for_gpu(setup.Steps(4))
    assert len(setup.asked) == 1
    monkeypatch.setattr(setup, "find_gpu", lambda: driver.Gpu("NVIDIA H200", "550.54.15", None, (9, 0)))
    setup.look_for_gpu(setup.Steps(4))
    assert setup.asked[1:] == [("uninstall", "--yes", "cupy-cuda13x"), ("install", "--editable", ".[gpu12]")]


def test_the_probe_of_the_library_is_what_decides(setup):
    """The real course_lib.gpu.probe, in a process of its own; on a machine without a GPU it says why."""
    said = setup.try_gpu()
    assert "\n" not in said
    assert "right" in said or said.endswith("the simulator is used, and every lesson works"), said


def fake_smi(tmp_path, monkeypatch, text, status=0):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{text}\nE\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def test_driver_asks_nvidia_smi(tmp_path, monkeypatch):
    fake_smi(tmp_path, monkeypatch, "NVIDIA H200, 580.159.04, 9.0\nNVIDIA H200, 580.159.04, 9.0")
    assert driver.find_gpu() == driver.Gpu("NVIDIA H200", "580.159.04", None, (9, 0))


@pytest.mark.parametrize("text", ["", "No devices were found", "a, b", "NVIDIA H200, [N/A], 9.0", "NVIDIA H200, 580.1, [N/A]"])
def test_an_answer_that_is_none_is_not_believed(text):
    assert driver.parse_smi(text) is None


class FakeLibrary:
    """Behave as the driver's library does, up to where a test wants it to fail."""

    def __init__(self, init=0, device=0):
        self.init, self.device = init, device

    def cuInit(self, flags):                                            # noqa: N802 (the driver's names)
        return self.init

    def cuDriverGetVersion(self, version):                              # noqa: N802
        version._obj.value = 13010

    def cuDeviceGet(self, device, ordinal):                             # noqa: N802
        return self.device

    def cuDeviceGetName(self, name, length, device):                    # noqa: N802
        ctypes.memmove(name, b"NVIDIA L4", 10)

    def cuDeviceGetAttribute(self, value, attribute, device):           # noqa: N802
        value._obj.value = {75: 8, 76: 9}[attribute]


@pytest.mark.parametrize(("library", "found"), [
    (None, None),
    (FakeLibrary(), driver.Gpu("NVIDIA L4", None, (13, 1), (8, 9))),
    (FakeLibrary(init=999), driver.Gpu(cuda=(13, 1), problem="an NVIDIA driver is installed but does not start (CUDA error 999)")),
    (FakeLibrary(device=100), driver.Gpu(cuda=(13, 1), problem="an NVIDIA driver is installed but sees no GPU")),
])
def test_without_nvidia_smi_the_library_is_asked(tmp_path, monkeypatch, library, found):
    fake_smi(tmp_path, monkeypatch, "NVIDIA-SMI has failed", status=9)
    monkeypatch.setattr(driver, "load", lambda name: library)
    assert driver.find_gpu() == found


def test_make_says_so_when_python_is_too_old(tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n")
    old.chmod(0o755)
    asked = subprocess.run(["make", f"PYTHON={old}", "lab"], cwd=ROOT, capture_output=True, text=True)
    assert asked.returncode == 2
    assert (f"The course needs Python 3.11 or newer, and '{old}' is Python 3.9.2: install a newer one and name it, "
            "as in: make PYTHON=python3.12 lab\n") in asked.stderr
    asked = subprocess.run(["make", "PYTHON=python3-none", "test"], cwd=ROOT, capture_output=True, text=True)
    assert asked.returncode == 2
    assert "'python3-none' is no program that runs: install a newer one" in asked.stderr
