"""Write the table of hostile submissions in docs/grading.md: grade the class of `tests/grading/hostile_class.py`, which takes minutes.

    .venv/bin/python tools/hostile.py            (--check says whether the page has what comes out)
"""

import sys
import tempfile
from pathlib import Path

from pages import Part, write

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/grading.md"
TABLE = Part("<!-- written by tools/hostile.py -->", "<!-- end of the table -->")


def main(arguments):
    """Grade the class and write the table; return the exit status."""
    sys.path.insert(0, str(ROOT / "tests/grading"))
    import hostile_class

    from course_lib.grading.classroom.grade import grade
    hostile_class.enrol()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        classroom = hostile_class.classroom_in(Path(folder))
        results = grade(classroom, hostile_class.EXERCISE, seconds=60)
        lines = hostile_class.collected(classroom, Path(folder))
    surprises = hostile_class.surprises(results)
    if surprises:
        print("\n".join(["nothing is written:", *surprises]))
        return 1
    return write(PAGE, lambda text: TABLE.renewed(text, hostile_class.table(results, lines)), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
