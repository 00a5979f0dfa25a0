"""A message in a notebook: one block, whose lines end between words."""

from course_lib.errors import COLUMNS, CourseError
from course_lib.simt.errors import OutOfBounds

LONG = ("first, line 8: thread (1, 0, 0) of block (1, 0, 0) reads B[17], but B has 17 elements (0 … 16). Guard the access: in a matrix, "
        "row and column have a limit each.")


def shown(error):
    """Return the lines that a notebook shows."""
    text, = error._render_traceback_()
    return text.split("\n")


def test_a_long_message_breaks_between_words():
    lines = shown(OutOfBounds(LONG))
    assert len(lines) > 1
    assert max(map(len, lines)) <= COLUMNS
    assert " ".join(lines) == f"OutOfBounds: {LONG}"


def test_lines_of_source_stay_as_they_are():
    source = "        x[i] = 2.0f * " + "y[i] * " * 20
    lines = shown(CourseError(f"it does not compile\n{source}\n{' ' * 100}^"))
    assert lines == ["CourseError: it does not compile", source, " " * 100 + "^"]


def test_a_word_that_is_longer_than_a_line_is_not_cut():
    name = "a" * 2 * COLUMNS
    assert shown(CourseError(f"there is no {name}"))[-1] == name
