"""Make exercises/ from solutions/ with nbgrader, or check that they agree: `python -m course_lib.grading.classroom.generate`.

nbgrader works in a temporary copy. It leaves nothing in the working tree, a failure cannot delete the released
exercises (nbgrader alone would), and the reader's own nbgrader configuration has no say.
"""

import argparse
import difflib
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course_lib.errors import CourseError, require
from course_lib.grading.classroom.variants import FIRST

LIBRARY = Path(__file__).resolve().parents[3]      # where nbgrader's process finds course_lib
CONFIG = "nbgrader_config.py"
_REASON = re.compile(r"\s*[\w.]*(Error|Exception): |.*error processing assignment .* for student")
SHOWN = 60         # lines of a difference


def generate(root: str | Path, target: str | Path, variant: str = FIRST, exercise: str = "*") -> None:
    """Generate every exercise of a repository, or one, into `target`, which is created.

    Parameters
    ----------
    root
        The repository: `solutions/` and `nbgrader_config.py`.
    target
        Gets `<lesson>/<lesson>.ipynb`, and the files that go with it.
    variant
        Whose cells stay; an exercise that has no such variant is generated as variant a.
    exercise
        Its name; default: all.

    Raises
    ------
    CourseError
        With nbgrader's own words when it fails; `target` is then not touched.
    """
    root, target = Path(root).resolve(), Path(target).resolve()
    lessons = sorted(path.parent.name for path in root.glob(f"solutions/{exercise}/*.ipynb"))
    if not lessons:
        raise CourseError(f"{root / 'solutions'} holds no notebook: run this in the course's repository")
    with tempfile.TemporaryDirectory(prefix="nbgrader-") as folder:
        course = Path(folder)
        for lesson in lessons:
            shutil.copytree(root / "solutions" / lesson, course / "solutions" / lesson)
        shutil.copy(root / CONFIG, course)
        _run_nbgrader(course, variant)
        made = course / "exercises"
        missing = [lesson for lesson in lessons if not list(made.glob(f"{lesson}/*.ipynb"))]
        if missing:
            raise CourseError(f"nbgrader made no exercise for {', '.join(missing)}")
        shutil.copytree(made, target, dirs_exist_ok=True)


def replace(root: str | Path) -> list[str]:
    """Generate into `exercises/`, which then holds exactly what was generated; return what changed, as `differences` tells it."""
    released = Path(root) / "exercises"
    with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
        fresh = Path(folder) / "exercises"
        generate(root, fresh)
        changed = differences(released, fresh)
        if changed:
            shutil.rmtree(released, ignore_errors=True)
            shutil.copytree(fresh, released)
    return changed


def drift(root: str | Path) -> list[str]:
    """Return how `exercises/` differs from what `solutions/` gives now; empty when it does not."""
    with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
        fresh = Path(folder) / "exercises"
        generate(root, fresh)
        return differences(Path(root) / "exercises", fresh)


def differences(old: Path, new: Path) -> list[str]:
    """Compare two folders byte by byte.

    Returns
    -------
    list of str
        One text a file: that it is missing, that it should not be there, or a difference of its lines.
    """
    found = []
    for name in sorted(_files(old) | _files(new)):
        if name not in _files(new):
            found.append(f"{name}: solutions/ gives no such file")
        elif name not in _files(old):
            found.append(f"{name}: is missing in {old.name}/")
        elif not filecmp.cmp(old / name, new / name, shallow=False):
            found.append(_difference(name, old / name, new / name))
    return found


def _files(folder):
    """Return the files below a folder, without the checkpoints that an open notebook leaves."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {name.as_posix() for name in names if ".ipynb_checkpoints" not in name.parts}


def _difference(name, old, new):
    before, after = (path.read_text(encoding="utf-8", errors="replace").splitlines() for path in (old, new))
    lines = list(difflib.unified_diff(before, after, f"exercises/{name}", f"generated/{name}", n=2, lineterm=""))
    more = [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + more) or f"{name}: only the line ends differ"


def _run_nbgrader(course, variant):
    """Run nbgrader's own command on the copy, with no configuration but ours."""
    require("Making exercises", "nbgrader")
    paths = [str(LIBRARY), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "JUPYTER_NO_CONFIG": "1",
        "JUPYTER_CONFIG_DIR": str(course / "config"),
        "PYTHONDONTWRITEBYTECODE": "1",
        # nbgrader calls `alembic` by name
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "*", "--force", "--no-db",
               f"--CourseDirectory.root={course}", f"--DropOtherVariants.variant={variant}"]
    done = subprocess.run(command, cwd=course, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    if done.returncode:
        lines = done.stdout.splitlines()
        reasons = [line.strip() for line in lines if _REASON.match(line)] or lines[-25:]
        raise CourseError("nbgrader cannot generate the exercises:\n" + "\n".join(reasons), log=done.stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m course_lib.grading.classroom.generate", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when exercises/ is out of date")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: the current folder)")
    options = parser.parse_args(arguments)
    try:
        found = drift(options.root) if options.check else replace(options.root)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for text in found:
        print(text)
    if not options.check:
        print(f"exercises/: {len(found)} files changed" if found else "exercises/ is up to date")
    elif found:
        print("\nexercises/ is not what solutions/ gives: run `python -m course_lib.grading.classroom.generate` and commit it.\n"
              "exercises/ is never edited by hand.")
    else:
        print("exercises/ is what solutions/ gives")
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
