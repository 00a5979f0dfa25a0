"""The base class of every error that this library raises on purpose, and the one for a package that is not installed."""

import textwrap
from importlib.util import find_spec
from typing import Any

COLUMNS = 88          # of a message in a notebook: fits beside an open file browser
DISTRIBUTIONS = {"sklearn": "scikit-learn"}      # what pip calls a module, where that is another name


class CourseError(Exception):
    """An error whose message tells a reader what happened and what to do.

    In a notebook it is shown as one short block, without the library's own stack frames.

    Parameters
    ----------
    message
        One clear sentence that names the value and what would be right; further lines may follow.
    **facts
        Everything a program may want to look at; each becomes an attribute.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def _render_traceback_(self):
        """Return what IPython prints instead of a stack trace; JupyterLab would break long lines anywhere, also inside words."""
        return ["\n".join(_wrapped(line) for line in f"{type(self).__name__}: {self}".splitlines())]


def _wrapped(line: str) -> str:
    """Break a line of a message between its words; a line of source, which is indented, stays as it is.

    >>> print(_wrapped("OutOfBounds: " + 12 * "a word, "))
    OutOfBounds: a word, a word, a word, a word, a word, a word, a word, a word, a word, a
    word, a word, a word,
    """
    if len(line) <= COLUMNS or line[:1].isspace():
        return line
    return textwrap.fill(line, COLUMNS, break_long_words=False, break_on_hyphens=False)


class MissingPackageError(CourseError, ImportError):
    """Part of the course needs a package that the simulator alone does without, and it is not installed."""


def require(what: str, *modules: str) -> None:
    """Look for modules that only some parts of the course need.

    Parameters
    ----------
    what
        Who needs them, the subject of the sentence.
    *modules
        Their names as Python imports them.

    Raises
    ------
    MissingPackageError
        Naming those that are not there, and the command that installs them.

    >>> require("course_lib.plots", "numpy")
    >>> require("course_lib.plots", "numpy", "no_such_module")
    Traceback (most recent call last):
        ...
    course_lib.errors.MissingPackageError: course_lib.plots needs no_such_module, which is not installed: run `pip install no_such_module`
    """
    missing = [DISTRIBUTIONS.get(module, module) for module in modules if find_spec(module) is None]
    if missing:
        which = "which is" if len(missing) == 1 else "which are"
        names = " and ".join([", ".join(missing[:-1])] * bool(missing[1:]) + missing[-1:])
        raise MissingPackageError(f"{what} needs {names}, {which} not installed: run `pip install {' '.join(missing)}`",
                                  missing=tuple(missing))
