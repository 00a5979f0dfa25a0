"""Write docs/found.md: kernels with faults, and findings.

Each kernel of docs/found/, what the simulator says of it, the lines that it names, the mend, and what the mended kernel does.

Only what stands between the marks is written; the rest of the page stays as it is.
"""

import difflib
import textwrap
from typing import Any

from tools import ROOT, ToolError, from_tests
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "found.md"
WIDTH, PROSE = 120, 140        # of a line of the findings and of the page, in characters


def part(name: str) -> Part:
    """Return what this tool writes about one kernel."""
    return Part(f"<!-- {name}: written by python -m tools page found -->", f"<!-- end of {name} -->")


def fenced(text: str, language: str = "text") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def numbered(source: str, only: Any = None) -> str:
    """Return the lines of a source with their numbers, all or only those of these numbers."""
    rows = [f"{number:3}  {line}".rstrip() for number, line in enumerate(source.splitlines(), 1) if only is None or number in only]
    return "\n".join(rows)


def findings(outcome: Any) -> tuple[str, set[int]]:
    """Return what the simulator prints, and the lines that it names."""
    if outcome.fault is not None:
        said, named = [f"{type(outcome.fault).__name__}: {outcome.fault}"], {outcome.fault.line}
    else:
        said = [str(h) for h in outcome.hazards]
        named = {line for h in outcome.hazards for line in (h.first_line, h.second_line)}
    return "\n\n".join(textwrap.fill(text, WIDTH, break_long_words=False) for text in said), named


def difference(case: Any) -> str:
    """Return the mend as a diff, without context."""
    rows = difflib.unified_diff(case.source.splitlines(), case.mended.splitlines(), lineterm="", n=0)
    return "\n".join(list(rows)[2:])


def orders(names: list[str]) -> str:
    """Return names joined to words.

    >>> orders(["forward", "reverse", "interleaved"])
    '`forward`, `reverse` and `interleaved`'
    """
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def of_answers(cases: Any, case: Any) -> str:
    """Say in which orders of the warps the kernel with the fault was right, and what the mended one does."""
    broken = {order: cases.run(case, case.source, order) for order in cases.ORDERS}
    mended = [cases.run(case, case.mended, order) for order in cases.ORDERS]
    if not all(outcome.found == set() and outcome.right for outcome in mended):
        raise ToolError(f"{case.name}: the mended kernel is not clean")
    said = []
    if all(outcome.fault is None for outcome in broken.values()):
        sides = [(orders([o for o, outcome in broken.items() if outcome.right is right]), right) for right in (True, False)]
        said = [f"{'right' if right else 'wrong'} when the warps run in the order{'s' * (' and ' in names)} {names}"
                for names, right in sides if names]
        said = [f"With the fault, the answer is {', and '.join(said)}."]
    error = max(outcome.error for outcome in mended)
    said.append("Mended, nothing is found in any of the three orders, and the answer "
                + (f"differs from NumPy's in double precision by at most {error:.1e}." if error else "is NumPy's."))
    return textwrap.fill(" ".join(said), PROSE, break_on_hyphens=False)


def body(name: str) -> str:
    """Return everything between one kernel's marks."""
    cases = from_tests("simt", "found_cases")
    case = cases.NAMED[name]
    kernel = [f"[found/{name}.cu](found/{name}.cu):", fenced(numbered(case.source), "cuda")]
    mend = ["The mend:", fenced(difference(case), "diff")]
    said, named = findings(cases.run(case, case.source))
    found = ["What the simulator says:", fenced(said), f"The line{'s' * (len(named) > 1)} that it names:",
             fenced(numbered(case.source, named), "cuda")]
    return "\n\n".join([*kernel, *found, *mend, of_answers(cases, case)])


def page(text: str) -> str:
    """Return the page's text with what is known of each kernel written anew."""
    for case in from_tests("simt", "found_cases").CASES:
        text = part(case.name).renewed(text, body(case.name))
    return text


command = page_command(PAGE, page)
