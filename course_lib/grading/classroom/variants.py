"""The variants of an exercise: cells tagged `variant-a`, `variant-b`, …, of which a class gets one, and cells without such a tag.

`exercises/` holds variant a. The setting is a line above the tables of `grading/class.toml`: `variant = "b"`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from course_lib.errors import CourseError

FIRST = "a"
_TAG = "variant-"
Cell = TypeVar("Cell", bound=Mapping[str, Any])


def marks(cell: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the variants that a cell is marked for; () when all get it.

    >>> marks({"metadata": {"tags": ["instructor", "variant-b"]}}), marks({"metadata": {}})
    (('b',), ())
    """
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    tags = tags if isinstance(tags, (list, tuple)) else []
    return tuple(tag.removeprefix(_TAG) for tag in tags if isinstance(tag, str) and tag.startswith(_TAG))


def variants_of(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the variants that some cell is marked for, sorted."""
    return sorted({variant for cell in cells for variant in marks(cell)})


def chosen(cells: Iterable[Cell], variant: str) -> list[Cell]:
    """Return the cells that a class with this variant gets; variant a's where the exercise has no such variant.

    >>> cells = [{"metadata": {"tags": ["variant-a"]}, "id": 1}, {"metadata": {"tags": ["variant-b"]}, "id": 2}, {"metadata": {}, "id": 3}]
    >>> [[cell["id"] for cell in chosen(cells, variant)] for variant in "abc"]
    [[1, 3], [2, 3], [1, 3]]
    """
    cells = list(cells)
    variant = variant if variant in variants_of(cells) else FIRST
    return [cell for cell in cells if not marks(cell) or variant in marks(cell)]


def has(data: bytes, variant: str) -> bool:
    """Return whether a notebook, as bytes, has cells of a variant."""
    return variant in variants_of(json.loads(data)["cells"])


def known(root: Path) -> list[str]:
    """Return the variants that the exercises of a repository have, sorted."""
    notebooks = (json.loads(path.read_bytes()) for path in sorted(root.glob("solutions/*/*.ipynb")))
    return sorted({FIRST}.union(*(variants_of(nb["cells"]) for nb in notebooks)))


def of_class(rules: Mapping[str, Any], root: Path) -> str:
    """Return the variant that a class has.

    Parameters
    ----------
    rules
        What `grading/class.toml` says.
    root
        The repository.

    Raises
    ------
    CourseError
        When there is no such variant, or the setting is in a table, where it would have no effect.
    """
    for name, table in rules.items():
        if isinstance(table, dict) and "variant" in table:
            raise CourseError(f"grading/class.toml: `variant` stands in the table [{name}]; put it in the first line, above all tables")
    variant = rules.get("variant", FIRST)
    there = known(root)
    if variant not in there:
        raise CourseError(f"grading/class.toml: no exercise has a variant {variant!r}; there is {', '.join(map(repr, there))}")
    return variant


def mismatch(found: Sequence[str], released: bytes) -> str:
    """Return a note for the author of a submission that is another variant than the class's, or "".

    Parameters
    ----------
    found
        The variants for which cells of the submission are marked.
    released
        The notebook that the class got.
    """
    wanted = variants_of(json.loads(released)["cells"])
    others = [variant for variant in found if re.fullmatch(r"\w{1,12}", variant)][:3]
    if not wanted or not others or set(wanted) & set(found):
        return ""
    return (f"This notebook has the parts of variant {' and '.join(others)}, and the class has variant {wanted[0]}: "
            "download the exercise of your class again and work on that one.")
