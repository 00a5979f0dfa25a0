"""Make .venv ready and open the course; the Makefile calls this, and it needs nothing but Python itself.

    python3 tools/setup.py lab     what `make lab` does: install, look for a GPU, copy the lessons to my_course/, open JupyterLab
    python3 tools/setup.py course  install the course, copy the lessons, and stop
    python3 tools/setup.py dev     install the course and what its tests need, and stop
    python tools/setup.py prepare  where something else installed the course (Binder): do now what the first lesson would wait for

Each part is installed once: a stamp in .venv holds a digest of what it was installed from, so that a second run asks no
network. What goes wrong is said in a sentence (`obstacles.py`), and leaves nothing half installed. Environment: LAB_ARGS (options for
JupyterLab), COURSE_BACKEND=sim (do not look for a GPU).
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
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools import my_course
from tools.driver import describe, extra_for, find_gpu, too_old
from tools.obstacles import explain, no_room, not_writable, one_at_a_time, wrong_venv

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SIZES = {"course": ("280 MB", 1100), "dev": ("400 MB", 1450)}       # what is downloaded; megabytes of .venv, measured on Linux
EXTRAS = {"course": "lab", "dev": "dev"}         # what a part is called in pyproject.toml
FIRST_LESSON = f"{my_course.MINE}/notebooks/00_start_here.ipynb"
# JupyterLab asks no question at the first start, and shows readers nothing of nbgrader, which is the instructors' tool.
LAB_SETTINGS = {
    "share/jupyter/lab/settings/overrides.json":
        {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}},
    "etc/jupyter/labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": True}},
}


class Steps:
    """Number the lines that tell the reader what is going on."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0

    def say(self, text: str) -> None:
        """Print the next step's line."""
        self.done += 1
        print(f"{self.done}/{self.total} {text}", flush=True)


def more(text: str) -> None:
    """Print a line that belongs to the step above it."""
    print(f"    {text}", flush=True)


def stop(text: str) -> NoReturn:
    """End with one message for the reader."""
    sys.exit(f"\n{text}")


def digest() -> str:
    """Hash what an installation depends on: the names, the versions, this checkout's place and the Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [project["project"], project["build-system"], (ROOT / "constraints.txt").read_text(encoding="utf-8"),
             str(ROOT), sys.version if not PYTHON.exists() else version_of(PYTHON)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def version_of(python: Path) -> str:
    """Return an interpreter's version."""
    return subprocess.run([python, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=True).stdout


def stamp(part: str) -> Path:
    """Return the file that remembers from what a part was installed."""
    return VENV / f"installed-{part}"


def is_installed(part: str) -> bool:
    """Tell whether a part was installed from what is here now."""
    return stamp(part).exists() and stamp(part).read_text() == digest()


def make_venv(part: str, steps: Steps) -> bool:
    """Create .venv unless it is there; return whether it was created."""
    if problem := wrong_venv(VENV, PYTHON):
        stop(problem)
    if PYTHON.exists():
        steps.say(f".venv is there (Python {version_of(PYTHON).split()[0]})")
        return False
    if problem := not_writable(ROOT) or no_room(ROOT, SIZES[part][1]):
        stop(problem)
    steps.say(f"creating .venv with Python {sys.version.split()[0]} …")
    made = subprocess.run([sys.executable, "-m", "venv", VENV], text=True, capture_output=True)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        said = (made.stdout + made.stderr).strip()
        stop(explain(said) or f"Python could not create .venv:\n{said}")
    return True


def pip(*arguments: str | Path) -> str | None:
    """Run pip in .venv with the course's versions; return what is wrong, or None when it worked."""
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
    if not running.returncode:
        return None
    return explain("\n".join(lines)) or "\n".join(["pip could not install the course. Its last words:", *lines[-15:]])


def prepare(python: Path, prefix: Path) -> None:
    """Do what the first lesson would wait for, and set JupyterLab up, in the environment `prefix` with this interpreter.

    That is: bytecode, on all cores (pip takes one), Matplotlib's fonts, the simulator's runtime.
    """
    code = ("import compileall, sysconfig\n"
            "for folder in (sysconfig.get_path('purelib'), 'course_lib'):\n"
            "    compileall.compile_dir(folder, quiet=2, workers=0)      # quiet: some files are for another Python\n"
            "import matplotlib.font_manager\n"
            "from course_lib.simt.codegen import library\n"
            "library.runtime()")
    # Without warnings: what other packages are warned of is not the reader's.
    done = subprocess.run([python, "-W", "ignore", "-c", code], cwd=ROOT, check=False, text=True, stderr=subprocess.PIPE)
    if done.returncode:
        more(explain(done.stderr) or done.stderr.strip().rpartition("\n")[2])      # the first lesson waits a little longer
    for name, settings in LAB_SETTINGS.items():
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text(json.dumps(settings))


def install(part: str, steps: Steps) -> None:
    """Install the course: what its lessons need for the part "course", what its tests need too for "dev"."""
    if is_installed(part):
        return steps.say("the course is installed" if part == "course" else f"the course is installed ({part})")
    steps.say(f"installing the course, at the versions of constraints.txt (the first time about {SIZES[part][0]}) …")
    for old in ("course", "dev"):
        if not is_installed(old):                            # whatever becomes of this, .venv will not be what it was
            stamp(old).unlink(missing_ok=True)
    failed = (pip("install", "--upgrade", "pip")             # one that comes with Python may take twice as long for the rest
              or pip("install", "--no-compile", "--editable", f".[{EXTRAS[part]}]"))
    if failed:
        stop(failed)
    prepare(PYTHON, VENV)
    for name in {"course", part}:
        stamp(name).write_text(digest())
    return None


def look_for_gpu(steps: Steps) -> None:
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


def install_cupy(extra: str) -> str | None:
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


def try_gpu() -> str:
    """Run the library's checked kernel in .venv and return its sentence."""
    code = "import sys; from course_lib.gpu import probe; s = probe(); print(s.reason); sys.exit(not s.usable)"
    tried = subprocess.run([PYTHON, "-c", code], cwd=ROOT, text=True, capture_output=True)
    reason = (tried.stdout or tried.stderr).strip().rpartition("\n")[2]
    return reason if tried.returncode == 0 else f"{reason}: the simulator is used, and every lesson works"


def copy_lessons() -> None:
    """Give the reader copies of the lessons and exercises that are not there yet, and say where a newer edition is."""
    try:
        said = my_course.make(ROOT)
    except OSError as error:
        stop(not_writable(ROOT) or explain(str(error)) or f"The lessons could not be copied to {my_course.MINE}/: {error}.")
    for line in said:
        more(line)


def compile_beside() -> None:
    """Have the kernels compiled beside JupyterLab, whose process this one becomes: sliders then find theirs compiled."""
    subprocess.Popen([PYTHON, "-m", "course_lib.run.ahead"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, start_new_session=True)


def open_lab(steps: Steps) -> None:
    """Become JupyterLab, at the first lesson."""
    if not (ROOT / FIRST_LESSON).exists():
        stop(f"{FIRST_LESSON} is missing: is this a whole checkout?")
    options = shlex.split(os.environ.get("LAB_ARGS", ""))
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in options:
        options.append("--allow-root")
    compile_beside()
    steps.say(f"opening JupyterLab at {FIRST_LESSON} (Ctrl-C twice ends it)")
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", "jupyterlab", "--log-level=WARN", f"--ServerApp.root_dir={ROOT}",
                       f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}", *options])


def make_ready(what: str, steps: Steps) -> None:
    """Install what is missing, and undo a .venv that this did not succeed with."""
    part = "dev" if what == "dev" else "course"
    created = make_venv(part, steps)
    try:
        install(part, steps)
    except BaseException:
        if created:
            shutil.rmtree(VENV, ignore_errors=True)
        raise
    if what != "dev":
        copy_lessons()
    if what != "lab":
        return
    if sys.platform == "darwin":
        more("lessons run from precompiled.zip here; to edit a kernel, open this folder in its dev container: see README.md")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        more("there is no C compiler: lessons 01 and 02 need one, the others do not")
    look_for_gpu(steps)


def main(what: str, total: int) -> None:
    """Do the steps of `make lab`, or of `make test` up to the tests."""
    steps = Steps(total)
    if sys.platform == "darwin" and what == "dev":
        stop("The tests compile kernels, and NVIDIA publishes no CUDA compiler for macOS. Run them in the dev container: see README.md.")
    if what == "dev" and (problem := not_writable(ROOT)):
        stop(problem)
    try:
        with one_at_a_time(ROOT, more):
            make_ready(what, steps)
    except KeyboardInterrupt:
        stop("Stopped; the same command begins again where nothing is half installed.")
    except OSError as error:
        if words := explain(str(error)):
            stop(words)
        raise
    if what == "lab":
        open_lab(steps)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("lab", "course", "dev", "prepare"):
        sys.exit(__doc__)
    if sys.argv[1] == "prepare":
        prepare(Path(sys.executable), Path(sys.prefix))
        sys.exit()
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 4 if sys.argv[1] == "lab" else 2)
