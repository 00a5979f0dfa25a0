"""Write docs/seeds.md: the documents' figures.

Every figure of the five documents beside ours.

Only the tables are written; the rest of the page stays as it is.
"""

import importlib
from typing import Any

from course_lib.data.documents import TITLES
from course_lib.model.figures import figures
from tools import ROOT
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "seeds.md"
TABLES = Part("<!-- figures: written by python -m tools page seeds -->", "<!-- end of figures -->")
TESTS = {    # module of the function -> its own test; every row is held by tests/model/test_seeds.py besides
    "latency": "test_latency_and_speedup", "speedup": "test_latency_and_speedup", "device_peaks": "test_device_peaks",
    "figures": "test_seeds", "arch": "test_arch", "old_banks": "test_old_banks",
}


def resolve(name: str) -> Any:
    """Return the object that a dotted name below course_lib means.

    >>> resolve("model.gt200.predicted_gflops").__name__
    'predicted_gflops'
    """
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["course_lib", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def judge_of(function: str) -> str:
    """Return the test file of the module in which a function is written.

    >>> judge_of("model.gt200.predicted_gflops"), judge_of("model.effective_bandwidth")
    ('test_gt200', 'test_segments')
    """
    home = getattr(resolve(function), "__module__", None)
    module = home.rpartition(".")[2] if home and home.startswith("course_lib") else function.split(".")[1]
    return TESTS.get(module, f"test_{module}")


def table() -> str:
    """Return the page's tables, one for each document."""
    lines = []
    for letter, title in TITLES.items():
        rows = figures(letter)
        lines += ["", f"### {letter}: {title}", "", f"{len(rows)} figures.", "",
                  "| place | what | as printed | exact | how | function | test | remark |", "|---|---|--:|--:|---|---|---|---|"]
        lines += ["| " + " | ".join([f.place, f.what, f.printed, f.exact_text, f.how, f"`{f.function}`", f"`{judge_of(f.function)}`",
                                     f.remark]) + " |" for f in rows]
    return "\n".join([f"{len(figures())} figures in all.", *lines])


def page(text: str) -> str:
    """Return the page's text with the tables written anew."""
    return TABLES.renewed(text, table())


command = page_command(PAGE, page)
