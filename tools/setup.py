"""Make .venv ready and open the course; the Makefile calls this, and it needs nothing but Python itself.

    python3 tools/setup.py lab     what `make lab` does: install, look for a GPU, copy the lessons to my_course/, open JupyterLab
    python3 tools/setup.py course  install the course, copy the lessons, and stop
    python3 tools/setup.py dev     install the course and what its tests need, and stop

Each part is installed once: a stamp in .venv holds a digest of what it was installed from, so that a second run asks no
network. Environment: LAB_ARGS (options for JupyterLab), COURSE_BACKEND=sim (do not look for a GPU).
"""
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from driver import describe, extra_for, find_gpu, too_old

import my_course

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
FIRST_LESSON = f"{my_course.MINE}/notebooks/00_start_here.ipynb"
# JupyterLab asks no question at the first start, and shows readers nothing of nbgrader, which is the instructors' tool.
LAB_SETTINGS = {
    "share/jupyter/lab/settings/overrides.json":
        {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}},
    "etc/jupyter/labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": True}},
}


class Steps:
    """Number the lines that tell the reader what is going on."""

    def __init__(self, total):
        self.total, self.done = total, 0

    def say(self, text):
        """Print the next step's line."""
        self.done += 1
        print(f"{self.done}/{self.total} {text}", flush=True)


def more(text):
    """Print a line that belongs to the step above it."""
    print(f"    {text}", flush=True)


def stop(text):
    """End with one message for the reader."""
    sys.exit(f"\n{text}")


def digest():
    """Hash what an installation depends on: the names, the versions, this checkout's place and the Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [project["project"], project["build-system"], (ROOT / "constraints.txt").read_text(encoding="utf-8"),
             str(ROOT), sys.version if not PYTHON.exists() else version_of(PYTHON)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def version_of(python):
    """Return an interpreter's version, or end with what to do when it does not run."""
    try:
        return subprocess.run([python, "-c", "import sys; print(sys.version)"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return stop(f"{PYTHON.relative_to(ROOT)} does not run (was Python updated or the folder copied?).\n"
                    "Remove it with `make clean`, then try again.")


def stamp(part):
    """Return the file that remembers from what a part was installed."""
    return VENV / f"installed-{part}"


def is_installed(part):
    """Tell whether a part was installed from what is here now."""
    return stamp(part).exists() and stamp(part).read_text() == digest()


def make_venv(steps):
    """Create .venv unless it is there."""
    if PYTHON.exists():
        return steps.say(f".venv is there (Python {version_of(PYTHON).split()[0]})")
    steps.say(f"creating .venv with Python {sys.version.split()[0]} …")
    made = subprocess.run([sys.executable, "-m", "venv", VENV], text=True, capture_output=True)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        hint = "\nOn Debian and Ubuntu: sudo apt install python3-venv" if "ensurepip" in made.stdout + made.stderr else ""
        stop(f"Python could not create .venv:\n{(made.stdout + made.stderr).strip()}{hint}")


def pip(*arguments):
    """Run pip in .venv with the course's versions; return its last lines, or None when it worked."""
    environment = os.environ | {"PIP_CONSTRAINT": "constraints.txt", "PIP_BUILD_CONSTRAINT": "constraints.txt",
                                "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [PYTHON, "-m", "pip", *arguments]
    lines = []
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        for line in running.stdout:
            lines.append(line.rstrip())
            if sys.stdout.isatty():
                print(f"\r\033[K    {line.strip()[:74]}", end="", flush=True)
    if sys.stdout.isatty():
        print("\r\033[K", end="", flush=True)
    return "\n".join(lines[-15:]) if running.returncode else None


def prepare():
    """Do what the first lesson would wait for: bytecode, on all cores (pip takes one), Matplotlib's fonts, the simulator's runtime."""
    code = ("import compileall, sysconfig\n"
            "for folder in (sysconfig.get_path('purelib'), 'course_lib'):\n"
            "    compileall.compile_dir(folder, quiet=2, workers=0)      # quiet: some files are for another Python\n"
            "import matplotlib.font_manager\n"
            "from course_lib.simt import build\n"
            "build.runtime()")
    subprocess.run([PYTHON, "-c", code], cwd=ROOT, check=False)


def install(part, size, steps):
    """Install the course, with the extra called `part` if it is not "course"."""
    if is_installed(part):
        return steps.say("the course is installed" if part == "course" else f"the course is installed ({part})")
    steps.say(f"installing the course, at the versions of constraints.txt (the first time about {size}) …")
    failed = (pip("install", "--upgrade", "pip")             # one that comes with Python may take twice as long for the rest
              or pip("install", "--no-compile", "--editable", "." if part == "course" else f".[{part}]"))
    if failed:
        stop(f"pip could not install the course:\n{failed}\n\nInstalling needs a network; once it is done, none is needed again.")
    prepare()
    for name, settings in LAB_SETTINGS.items():
        (VENV / name).parent.mkdir(parents=True, exist_ok=True)
        (VENV / name).write_text(json.dumps(settings))
    for name in {"course", part}:
        stamp(name).write_text(digest())
    return None


def look_for_gpu(steps):
    """Install CuPy where it can work, try a kernel, and say in one line what the lessons will run on."""
    if os.environ.get("COURSE_BACKEND") == "sim":
        return steps.say("COURSE_BACKEND=sim: every kernel runs on the simulator")
    gpu = find_gpu()
    if gpu is None:
        return steps.say("no NVIDIA driver here: every kernel runs on the simulator, and every lesson works")
    if gpu.problem or too_old(gpu):
        return steps.say(f"{gpu.problem or too_old(gpu)}: the simulator is used, and every lesson works")
    steps.say(f"found {describe(gpu)}")
    failed = install_cupy(extra_for(gpu))
    if failed:
        return more(f"CuPy could not be installed, so the simulator is used; `make lab` tries again.\n{failed}")
    return more(try_gpu())


def install_cupy(extra):
    """Install the CuPy that fits, in place of one that no longer does; return pip's last lines if that fails."""
    if is_installed(extra):
        return None
    other = {"gpu12": "gpu13", "gpu13": "gpu12"}[extra]
    if stamp(other).exists():
        pip("uninstall", "--yes", f"cupy-cuda{other[3:]}x")
        stamp(other).unlink()
    more("installing CuPy and NVIDIA's libraries for it (the first time about 1.2 GB) …")
    failed = pip("install", "--editable", f".[{extra}]")
    if not failed:
        stamp(extra).write_text(digest())
    return failed


def try_gpu():
    """Run the library's checked kernel in .venv and return its sentence."""
    code = "import sys; from course_lib.gpu import probe; s = probe(); print(s.reason); sys.exit(not s.usable)"
    tried = subprocess.run([PYTHON, "-c", code], cwd=ROOT, text=True, capture_output=True)
    reason = (tried.stdout or tried.stderr).strip().rpartition("\n")[2]
    return reason if tried.returncode == 0 else f"{reason}: the simulator is used, and every lesson works"


def copy_lessons():
    """Give the reader copies of the lessons and exercises that are not there yet, and say where a newer edition is."""
    try:
        said = my_course.make(ROOT)
    except OSError as error:
        stop(f"The lessons could not be copied to {my_course.MINE}/: {error}. Is the disk full, or this folder read-only?")
    for line in said:
        more(line)


def open_lab(steps):
    """Become JupyterLab, at the first lesson."""
    if not (ROOT / FIRST_LESSON).exists():
        stop(f"{FIRST_LESSON} is missing: is this a whole checkout?")
    options = shlex.split(os.environ.get("LAB_ARGS", ""))
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in options:
        options.append("--allow-root")
    steps.say(f"opening JupyterLab at {FIRST_LESSON} (Ctrl-C twice ends it)")
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", "jupyterlab", "--log-level=WARN", f"--ServerApp.root_dir={ROOT}",
                       f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}", *options])


def main(what, total):
    """Do the steps of `make lab`, or of `make test` up to the tests."""
    steps = Steps(total)
    if sys.platform == "darwin" and what == "dev":
        stop("The tests compile kernels, and NVIDIA publishes no CUDA compiler for macOS. Run them in the dev container: see README.md.")
    make_venv(steps)
    install(*{"dev": ("dev", "340 MB")}.get(what, ("course", "240 MB")), steps)
    if what != "dev":
        copy_lessons()
    if what != "lab":
        return None
    if sys.platform == "darwin":
        more("the kernels of the lessons come compiled; to edit one, open this folder in its dev container: see README.md")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        more("there is no C compiler: lessons 01 and 02 need one, the others do not")
    look_for_gpu(steps)
    return open_lab(steps)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("lab", "course", "dev"):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 4 if sys.argv[1] == "lab" else 2)
