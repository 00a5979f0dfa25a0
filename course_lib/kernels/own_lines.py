"""Keep the line numbers of a reader's text: a `#line` in it would send every message, hazard and counter to a line that is not there."""

import re

_COMMENT = r"(?:[ \t]|/\*[^\n*]*\*/)*+"
_DIRECTIVE = re.compile(rf"(?m)(?<!\\\n)^({_COMMENT})(?:\#|%:)(?={_COMMENT}(?:line\b|\d))")


def with_own_lines(text: str) -> str:
    r"""Return CUDA C in which each line directive is a comment, so that its lines count from 1.

    What was copied from a preprocessor's output has such lines as well, `# 1 "<stdin>"`.

    >>> with_own_lines('int x;\n#line 77 "x.cu"\n # 1 "<stdin>"\n#define line 3')
    'int x;\n//line 77 "x.cu"\n // 1 "<stdin>"\n#define line 3'
    """
    return _DIRECTIVE.sub(r"\1//", text)
