"""The answers in `tests/wrong_kernels/` and `tests/right_kernels/`: a header says for which part, and for which finding.

A file that ends in .patch has the header, then lines of the worked solution behind a `-`, and behind a `+` what stands in their place.
"""

import json
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SUFFIXES = (".cu", ".c", ".py", ".patch")


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


def answer(path):
    """Return a file's answer, header and all."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".patch":
        return text
    said = re.match(r"(?://.*\n)+", text)[0]
    solution = solved_cells(path.parent.name)[f"{header(path)[0]}-answer"].split("\n", 1)[1]
    return said + patched(without_regions(solution) + "\n", text[len(said):])


def patched(text, patch):
    """Return a text with changes, each of which begins with lines that are there once.

    >>> patched("a\\nb\\nc\\n", "-b\\n+d\\n+e\\n-c\\n")
    'a\\nd\\ne\\n'
    """
    for change in re.findall(r"(?:^-.*\n)+(?:^\+.*\n)*", patch, re.MULTILINE):
        old, new = ("".join(line[1:] for line in change.splitlines(keepends=True) if line[0] == sign) for sign in "-+")
        assert text.count(old) == 1, f"not once in the solution: {old}"
        text = text.replace(old, new)
    return text


def solved_cells(exercise):
    """Return the cells of a worked solution: id -> source."""
    nb = json.loads((TESTS.parent / "solutions" / exercise / f"{exercise}.ipynb").read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in nb["cells"]}


def without_regions(source):
    """Return the solution in an answer cell, without marks and starter.

    >>> without_regions("a\\n// BEGIN SOLUTION\\nb\\n// STARTER\\n// c\\n// END SOLUTION")
    'a\\nb'
    """
    kept, starter = [], False
    for line in source.split("\n"):
        word = line.strip(" /#")
        starter = word == "STARTER" or (starter and word != "END SOLUTION")
        if not starter and word not in ("BEGIN SOLUTION", "END SOLUTION"):
            kept.append(line)
    return "\n".join(kept)
