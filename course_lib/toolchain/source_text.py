"""What a compiler is given besides its options, looked at before it is started: the text, its name, the macros."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from course_lib.errors import CourseError

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def check_text(source: Any, name: Any, language: str) -> None:
    """Raise a `CourseError` unless `source` is text and `name` a single line.

    >>> check_text("int x;", "x.c", "C")
    """
    if not isinstance(source, str):
        raise CourseError(f"the source must be {language} text, a str, not {type(source).__name__}")
    if odd := _NO_TEXT.search(source):
        what = "a NUL character" if odd[0] == "\0" else f"half a character ({odd[0]!r})"
        line = source.count("\n", 0, odd.start()) + 1
        raise CourseError(f"{name} holds {what} at line {line}: delete it there, and save the text anew")
    if not str(name) or re.search(r"[\0\r\n]", str(name)):
        raise CourseError(f"the name of the source must be a single line, not {name!r}")


def define_options(defines: Mapping[Any, int | float | str | bool]) -> Iterator[str]:
    """Yield what passes macros to a compiler; True and False become 1 and 0.

    >>> list(define_options({"BM": 32, "FAST": True}))
    ['-DBM=32', '-DFAST=1']
    """
    if not isinstance(defines, Mapping):
        raise CourseError(f'defines must map names to values, like {{"BM": 32}}, not {defines!r}')
    for name, value in defines.items():
        if not (isinstance(name, str) and _IDENTIFIER.fullmatch(name)):
            raise CourseError(f"{name!r} cannot be defined: a macro's name is letters, digits and _, not a digit first")
        yield f"-D{name}={int(value) if isinstance(value, bool) else value}"
