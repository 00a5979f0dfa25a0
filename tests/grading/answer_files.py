"""The answers in `tests/wrong_kernels/` and `tests/right_kernels/`: a header says for which part, and for which finding."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SUFFIXES = (".cu", ".c", ".py")


def files(folder, exercise="*"):
    """Return the answers in `wrong_kernels` or `right_kernels`, of one exercise or all."""
    return sorted(path for path in (TESTS / folder).glob(f"{exercise}/*") if path.suffix in SUFFIXES)


def header(path):
    """Return the part that an answer is for, and the kind and words of the finding it must give ("" for none)."""
    text = path.read_text(encoding="utf-8")
    name, = re.findall(r"^(?://|#) Part +(\S+)$", text, re.MULTILINE)
    reason = re.findall(r"^(?://|#) Must fail for +(.+)$", text, re.MULTILINE)
    kind, _, words = (reason or [""])[0].partition(": ")
    return name, kind, words
