"""Pack what students get: lessons, exercises and the library, without worked solutions, tests and anything of the instructor's."""

import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.generate import generate
from course_lib.grading.classroom.variants import FIRST
from course_lib.toolchain.archive import BUNDLED

TAKEN = ("notebooks", "exercises", "course_lib", "tools", "docs", ".devcontainer", "Makefile", "README.md", "CONTRIBUTING.md", "LICENSE",
         "LICENSE-lessons", "pyproject.toml", "constraints.txt", "environment.yml")
FOLDER = "warp-by-warp"
ARCHIVE = "build/precompiled.zip"        # by `make precompiled`; a bundle without it is for machines that can have NVRTC
_WHEN = (2000, 1, 1, 0, 0, 0)        # the same files give the same bytes


def release(root: Path, target: Path, variant: str = FIRST) -> list[str]:
    """Write the students' bundle as a zip file.

    Parameters
    ----------
    root
        The repository; what git tracks in it is packed, as it is on disk now.
    variant
        Of the exercises.

    Returns
    -------
    list of str
        The names in it.

    Raises
    ------
    CourseError
        When this is no git repository, or the exercises are not what the solutions give.
    """
    files = contents(root, variant)
    problem = leak(files)
    if problem:
        raise CourseError(problem)
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            info = zipfile.ZipInfo(f"{FOLDER}/{name}", _WHEN)
            runs = (root / name).is_file() and (root / name).stat().st_mode & 0o100
            info.external_attr = (0o755 if runs else 0o644) << 16
            archive.writestr(info, files[name], zipfile.ZIP_DEFLATED)
    return list(files)


def demand_target(target: Path) -> None:
    """Raise `CourseError` when a bundle cannot be written there."""
    there = next(path for path in target.absolute().parents if path.exists())
    if target.is_dir() or not there.is_dir() or not os.access(target if target.exists() else there, os.W_OK):
        raise CourseError(f"{target} cannot be written: name a zip file in a folder that is yours, such as build/warp-by-warp.zip")


def contents(root: Path, variant: str = FIRST) -> dict[str, bytes]:
    """Return what a bundle holds: name -> bytes, sorted by name. The exercises are those of the variant."""
    files = {name: (root / name).read_bytes() for name in bundled(tracked(root))}
    if variant != FIRST:
        files = {name: data for name, data in files.items() if not name.startswith("exercises/")} | _exercises(root, variant)
    if (root / ARCHIVE).is_file():
        files[BUNDLED.relative_to(BUNDLED.parents[2]).as_posix()] = (root / ARCHIVE).read_bytes()
    return dict(sorted(files.items()))


def _exercises(root, variant):
    with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
        generate(root, folder, variant)
        return {f"exercises/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def tracked(root: str | Path) -> list[str]:
    """Return the files that git tracks and that are there, as sorted names."""
    try:
        done = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    except FileNotFoundError:
        raise CourseError("git is missing, and a release is made of what git tracks: install it (`sudo apt install git`)") from None
    if done.returncode:
        raise CourseError(f"{root} is no git repository: a release is made of what git tracks")
    names = done.stdout.decode().split("\0")
    return sorted(name for name in names if name and (Path(root) / name).is_file() and not (Path(root) / name).is_symlink())


def bundled(names: Iterable[str]) -> list[str]:
    """Return those of a repository's files that students get.

    >>> bundled(["Makefile", "grading/seed", "notebooks/a.ipynb", "solutions/x/x.ipynb", "tests/t.py"])
    ['Makefile', 'notebooks/a.ipynb']
    """
    return [name for name in names if name.split("/")[0] in TAKEN]


def leak(files: Mapping[str, bytes]) -> str | None:
    """Return why a bundle (name -> bytes) must not be given away, or None: a notebook in it still has a solution or a hidden test."""
    for name, data in files.items():
        if name.endswith(".ipynb") and name.startswith("exercises/"):
            text = data.decode()
            for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "seed="):
                if mark in text:
                    return f"nothing was packed: {name} holds {mark!r}; run `make exercises`"
    return None
