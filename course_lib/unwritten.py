"""What stands for something that the reader has not written yet: whatever a lesson does with it says so, in one sentence.

A blank kernel cell binds its name to an `Unwritten`. To use one in any way raises `NotWritten`; `course_lib.magic` shows that as one
sentence instead of an error, and binds the names that the rest of the cell would have made to an `Unwritten` each, so that "Run All"
reaches the end of a lesson.
"""

from collections.abc import Iterable
from typing import Any, TypeGuard

from course_lib.errors import CourseError

NOT_WRITTEN, DOES_NOT_COMPILE = "is not written yet", "does not compile yet"
ADVICE = {
    NOT_WRITTEN: "write it in its cell, run that cell, then run this one again",
    DOES_NOT_COMPILE: "its cell shows what the compiler says; mend it there, then run this cell again",
}


class NotWritten(CourseError):
    """The reader's own kernel is needed, and is not there. Attributes: root (its `Unwritten`), arrays (what it was to fill)."""

    root: "Unwritten"
    arrays: tuple[Any, ...]


class Unwritten:
    """Stand for a kernel that is not written yet, or for what only such a kernel could make.

    Parameters
    ----------
    name
        What the reader calls it.
    why
        `NOT_WRITTEN` or `DOES_NOT_COMPILE`.
    text
        The kernel's text as far as there is one.
    root
        The kernel on which this depends; itself when left out.
    original
        The array that stood under this name before, which the kernel was to fill.

    Every operation raises `NotWritten`; `repr` alone gives the sentence.

    >>> mine = Unwritten("mine")
    >>> mine
    mine is not written yet: write it in its cell, run that cell, then run this one again.
    >>> mine[0] + 1
    Traceback (most recent call last):
    course_lib.unwritten.NotWritten: mine is not written yet: write it in its cell, run that cell, then run this one again.
    """

    def __init__(self, name: str, why: str = NOT_WRITTEN, text: str = "", root: "Unwritten | None" = None, original: Any = None):
        self._name, self._why, self._text, self._original = name, why, text, original
        self._root, self._is_written = self if root is None else root, False

    def __repr__(self):
        return sentence(self)

    def __getattr__(self, name):
        if name.startswith("_"):             # what Jupyter and copy look for, and find missing
            raise AttributeError(name)
        raise missing(self)


def sentence(thing: Unwritten) -> str:
    """Return what there is to say about an `Unwritten`, now."""
    kernel = thing._root
    if kernel._is_written:
        return f"{thing._name} was to come from {kernel._name}, which was missing then: run the cells from {kernel._name} on again."
    return f"{lack(thing)}: {ADVICE[kernel._why]}."


def lack(thing: Unwritten) -> str:
    """Return what is missing, for a picture that shows something else meanwhile.

    >>> lack(Unwritten("mine", DOES_NOT_COMPILE))
    'mine does not compile yet'
    """
    return f"{thing._root._name} {thing._root._why}"


def missing(thing: Unwritten, arrays: Iterable[Any] = ()) -> NotWritten:
    """Return the exception that says what is missing; `arrays` are those that a launch would have filled."""
    return NotWritten(sentence(thing), root=thing._root, arrays=tuple(arrays))


def text_of(thing: Unwritten) -> str:
    """Return the text of the kernel on which a thing depends, "" when there is none."""
    return thing._root._text


def is_unwritten(thing: Any) -> TypeGuard[Unwritten]:
    """Tell an `Unwritten` from everything else.

    >>> is_unwritten(Unwritten("mine")), is_unwritten("mine")
    (True, False)
    """
    return type(thing) is Unwritten


def _refuse(self, *args, **kwargs):
    raise missing(self)


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_OTHERS = ("abs", "array", "array_function", "array_ufunc", "bool", "call", "complex", "contains", "delitem", "enter", "eq", "exit",
           "float", "format", "fspath", "ge", "getitem", "gt", "hash", "index", "int", "invert", "iter", "le", "len", "lt", "ne", "neg",
           "next", "pos", "reversed", "round", "setitem", "str")
for _name in [*_OTHERS, *_BINARY, *(f"r{_n}" for _n in _BINARY), *(f"i{_n}" for _n in _BINARY)]:
    setattr(Unwritten, f"__{_name}__", _refuse)
