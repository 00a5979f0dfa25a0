"""Begin an exercise of your own.

It is a small complete one, to be changed piece by piece (docs/own-exercise.md).

NAME is two digits and a name, such as 60_my_topic. It writes the spec, the worked solution, answers that must fail and one that must pass,
all from docs/own-exercise/, and nothing that is there already.
"""

import re
from pathlib import Path

import click

from course_lib.errors import CourseError
from tools import ROOT

TEMPLATE = ROOT / "docs/own-exercise"
EXAMPLE = "50_two_rows"


def targets(name: str) -> dict[str, str]:
    """Return where the template's files go: path in it -> path in the repository.

    >>> [path for path in targets("60_mine").values() if path.endswith((".ipynb", "60_mine.py"))]
    ['course_lib/grading/exercises/e60_mine.py', 'solutions/60_mine/60_mine.ipynb']
    """
    found = {"spec.py": f"course_lib/grading/exercises/e{name}.py", "solution.ipynb": f"solutions/{name}/{name}.ipynb"}
    for kind in ("wrong", "right"):
        found |= {f"{kind}/{path.name}": f"tests/{kind}_kernels/{name}/{path.name}" for path in sorted((TEMPLATE / kind).iterdir())}
    return found


def begin(name: str, root: Path = ROOT) -> list[str]:
    """Write the files of a new exercise; return their paths.

    Raises
    ------
    CourseError
        When the name is none, or something of it is there already; then nothing is written.
    """
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", name):
        raise CourseError(f"{name!r} cannot be an exercise: two digits and a name in small letters, such as 60_my_topic")
    paths = targets(name)
    if there := [path for path in paths.values() if (root / path).exists()]:
        raise CourseError(f"{there[0]} is there already: choose another name, or delete what there is")
    for source, path in paths.items():
        text = (TEMPLATE / source).read_text(encoding="utf-8").replace(EXAMPLE, name).replace("Exercise 50", f"Exercise {name[:2]}")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return list(paths.values())


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Write the files and say what comes next."""
    print("\n".join([*begin(name), f"next: change them; then .venv/bin/python -m pytest -q tests/grading/test_exercises.py -k {name}"]))
