"""Write the hostile submissions of docs/grading.md.

It grades the class of tests/grading/hostile_class.py, which takes minutes.
"""

import sys
import tempfile
from pathlib import Path

import click

from tools import ROOT, from_tests
from tools.pages import CHECK, Part, write

PAGE = ROOT / "docs/grading.md"
TABLE = Part("<!-- written by python -m tools page hostile -->", "<!-- end of the table -->")


@click.command()
@CHECK
def command(check: bool) -> None:
    """Grade the class and write the table, unless somebody was not judged as they must be."""
    from course_lib.grading.classroom.grade import grade
    hostile_class = from_tests("grading", "hostile_class")
    hostile_class.enrol()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        classroom = hostile_class.classroom_in(Path(folder))
        results = grade(classroom, hostile_class.EXERCISE, seconds=60)
        lines = hostile_class.collected(classroom, Path(folder))
    surprises = hostile_class.surprises(results)
    if surprises:
        print("\n".join(["nothing is written:", *surprises]))
        sys.exit(1)
    sys.exit(write(PAGE, lambda text: TABLE.renewed(text, hostile_class.table(results, lines)), check))
