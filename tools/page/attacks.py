"""Write docs/grading.md's table of attacks, class by class.

It has as many cases as pytest collects.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tools import ROOT, from_tests
from tools.pages import Part, page_command

PAGE = ROOT / "docs/grading.md"
TABLES = Part("<!-- written by python -m tools page attacks -->", "<!-- end of the classes -->")
WHERE = "tests/grading"


@dataclass(frozen=True)
class Attacks:
    """One class of attack: what it tries, what holds, what does not and why, and the tests, `file` or `file::test`, below tests/grading."""

    what: str
    holds: str
    open: str
    tests: tuple[str, ...]
    hostile: bool = False


CLASSES = (
    Attacks("who submitted what: names inside an entry, archives, times, two people of one name",
            "the entry that the platform made decides, and a name of somebody else inside it is refused and listed",
            "in a folder that students write to themselves, and in one student's zip file without a roster, nothing proves the name",
            ("test_owners.py",)),
    Attacks("collecting: every platform's names, links, paths out of an archive, swollen and damaged files",
            "each is a line of the report, and the others are collected", "none that we know", ("test_collect.py", "test_exchange.py")),
    Attacks("gates: kernels and functions without the idea of their part",
            "totals, drawn inputs, and launches in which something is missing; [gates.md](gates.md) says it part by part",
            "the forms of drawn inputs are public, and a kernel can answer a launch that it recognizes; gates.md lists the gaps",
            ("test_fooling_03_08.py::test_what_fools_a_gate_is_told_why_it_does_not_pass",
             "test_fooling_09_19.py::test_a_kernel_without_the_idea_is_told_what_is_wrong",
             "test_fooling_09_19.py::test_a_function_that_knows_what_is_shown_fails_on_what_is_drawn")),
    Attacks("wrong answers: each must fail, and for its reason", "results are compared outside the sandbox, and NaN never passes",
            "an input that nobody tried", ("test_exercises.py::test_a_wrong_answer_fails_for_its_reason",)),
    Attacks("honest answers that look unlike the worked ones: each must get full marks",
            "no gate refuses them", "a style that nobody tried",
            ("test_fooling_03_08.py::test_a_right_kernel_of_another_make_passes",
             "test_fooling_09_19.py::test_a_right_kernel_of_other_make_passes",
             "test_exercises.py::test_a_different_right_answer_passes")),
    Attacks("the sandbox: hostile notebooks, kernels and functions, and what comes back from it",
            "nothing of the class or the machine is read or changed, and an invalid reply ends its part",
            "an error in Linux, in bubblewrap or in the simulator's check of accesses", ("sandbox", "test_hostile.py"), hostile=True),
    Attacks("faults in files: damaged results, corrections, rosters, a disk that is full",
            "each is named in a sentence, and costs nobody else anything", "a disk that returns other bytes than were written",
            ("test_corrections.py",)),
)


def collected(files: Iterable[str]) -> Counter[str]:
    """Return how many cases pytest collects of each "file::test", whatever marks they have."""
    run = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", "-p", "no:nbval",
                          *(f"{WHERE}/{name}" for name in files)], cwd=ROOT, capture_output=True, text=True, check=True)
    found: Counter[str] = Counter()
    for line in run.stdout.splitlines():
        if "::" in line:
            path, test = line.removeprefix(f"{WHERE}/").split("[", 1)[0].split("::", 1)
            found[f"{path}::{test}"] += 1
    return found


def table() -> str:
    """Return the table; a class of which nothing is collected is an error."""
    found = collected(sorted({name.split("::")[0] for one in CLASSES for name in one.tests}))
    hostile = from_tests("grading", "hostile_class")
    members = len(hostile.EVERYBODY) - len(hostile.HONEST) + len(hostile.ARCHIVES)
    lines = ["| class of attack | cases | what holds | what does not, and why | tests |", "|---|--:|---|---|---|"]
    for one in CLASSES:
        counts = [sum(count for test, count in found.items() if test.startswith(name)) for name in one.tests]
        if not all(counts):
            raise ValueError(f"no test is collected of {one.tests[counts.index(0)]}")
        files = ", ".join(dict.fromkeys(f"`{name.split('::')[0]}`" for name in one.tests))
        lines.append(f"| {one.what} | {sum(counts) + one.hostile * members} | {one.holds} | {one.open} | {files} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page's text with the table written anew."""
    return TABLES.renewed(text, table())


command = page_command(PAGE, page)
