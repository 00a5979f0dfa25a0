"""Which lesson explains a finding, where that is another one than the reader's."""

import sys
from types import ModuleType

from course_lib.check.finding import Finding
from course_lib.check.reports import unfinished_copy
from course_lib.simt.async_report import Finding as BrokenRule

# `check` comes with lesson 03, which explains wrong results and accesses out of bounds: nobody who reads of one has to be sent there.
TITLES = {"04": "Tiling", "05": "Coalescing", "06": "Bank conflicts and padding", "08": "Register blocking",
          "17": "Stages", "18": "Who copies, and who multiplies?", "19": "Is every multiprocessor busy?"}
PACKAGES = {"04": "tiling", "05": "coalescing", "06": "bank_conflicts", "08": "register_blocking", "17": "stages",
            "18": "roles", "19": "busy"}
EXPLAINS = {
    "hazard": "04", "uninitialised": "04", "divergent barrier": "04", "loads": "04",
    "misaligned": "05", "sectors": "05", "bank conflicts": "06", "spills": "08", "local memory": "08", "copy": "17", "asynchronous": "18",
    "order": "19",
}


def lesson_of(finding: Finding) -> str:
    """Return the number and title of the lesson that explains a finding, or "": for what needs none, and in that lesson itself.

    >>> lesson_of(Finding("hazard", "")), lesson_of(Finding("wrong", ""))
    ('lesson 04, Tiling', '')
    """
    hazards = finding.facts.get("hazards", ())
    asynchronous = any(isinstance(hazard, BrokenRule) or hazard.bulk or hazard.first_multiplies for hazard in hazards)
    number = EXPLAINS.get("asynchronous" if asynchronous else "copy" if any(map(unfinished_copy, hazards)) else finding.kind)
    return f"lesson {number}, {TITLES[number]}" if number and not _is_read(number) else ""


def _is_read(number: str) -> bool:
    """Tell whether the notebook has imported a lesson's own package by its name, as that lesson does at its top and no other."""
    name = f"course_lib.lessons.{PACKAGES[number]}"
    return any(isinstance(value, ModuleType) and value.__name__ == name for value in vars(sys.modules["__main__"]).values())
