"""Every figure of the five documents: the word that says how it compares with ours is proved, and the page shows all."""

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from course_lib.model.figures import ABOUT, AGREES, CUT, INPUTS, OFF, ROUTE, Figure, figures
from tools.page import seeds
from tools.pages import write

ALL = figures()
# Figures that no road leads to, by document and place: our value is proved in the tests of the functions named there.
OFF_ROWS = {("L", "Bank conflict"): 2, ("L", "Avoiding Bank Conflict"): 2, ("C", "1.1.3.2"): 1, ("C", "4.4.1"): 1, ("C", "Table 4"): 1,
            ("C", "7"): 1, ("K", "Program Output"): 1, ("K", "Problem 2"): 1}


@pytest.mark.parametrize("figure", ALL, ids=lambda f: f"{f.document}-{f.place}-{f.what}"[:80])
def test_the_printed_figure_and_ours(figure):
    assert figure.holds(), figure


def test_figures_that_are_off_are_these_and_no_others():
    assert Counter((f.document, f.place) for f in ALL if f.how == OFF) == OFF_ROWS
    assert all(f.remark for f in ALL if f.how in (CUT, ROUTE, OFF, INPUTS))


def test_the_word_is_the_weakest_that_holds():
    """Whatever is wrong by 2 % in our value is noticed, and nobody calls an agreeing figure something else."""
    for figure in ALL:
        if figure.how in (AGREES, CUT) and figure.unit < abs(figure.value) / 200:
            assert not replace(figure, exact=float(figure.exact) * 1.02).holds(), figure
            assert not replace(figure, exact=float(figure.exact) * 0.98).holds(), figure
        if figure.how == AGREES:
            assert not any(replace(figure, how=other, low=0, high=1e9, route=figure.exact, remark="x").holds()
                           for other in (CUT, INPUTS, ROUTE)), figure


@pytest.mark.parametrize(("document", "printed", "how"), [
    ("C", "278.57", ROUTE), ("C", "5/6", AGREES), ("C", "0.7024", AGREES), ("K", "672", AGREES), ("K", "20", AGREES),
    ("W", "1370", AGREES), ("W", "45.6", CUT), ("W", "23.1", AGREES), ("W", "72.1", ROUTE), ("W", "36.5", ROUTE), ("W", "30", AGREES),
    ("K", "1.125", OFF), ("K", "48.2", AGREES), ("C", "1/6", AGREES), ("N", "15.1521", INPUTS), ("L", "1536", AGREES),
])
def test_the_figures_that_everybody_quotes_are_there(document, printed, how):
    assert how in {f.how for f in figures(document) if f.printed == printed}


@pytest.mark.parametrize(("printed", "exact", "how", "holds"), [
    ("2.5", 2.549, AGREES, True), ("2.5", 2.551, AGREES, False), ("5/6", Fraction(5, 6), AGREES, True), ("5/6", 0.8334, AGREES, False),
    ("66%", Fraction(2, 3), CUT, True), ("66%", Fraction(2, 3), AGREES, False), ("67%", Fraction(2, 3), CUT, False),
    ("65%", Fraction(2, 3), CUT, False), ("1,024", 1024, AGREES, True), ("50%", 0.6, ABOUT, True), ("50%", 0.7, ABOUT, False),
    ("7", 8, OFF, True), ("8", 8, OFF, False),
])
def test_the_rules_themselves(printed, exact, how, holds):
    assert Figure("X", "", "", printed, exact, "", how=how, remark="why").holds() == holds
    if how == OFF:
        assert not Figure("X", "", "", printed, exact, "", how=how).holds()


def test_every_function_and_test_that_a_row_names_exists():
    for name in {f.function for f in ALL}:
        seeds.resolve(name)
        assert (seeds.ROOT / "tests" / "model" / f"{seeds.judge_of(name)}.py").exists(), name


def test_the_page_is_what_the_tool_writes():
    assert write(seeds.PAGE, seeds.page, check=True) == 0, "docs/seeds.md is not up to date: python -m tools page seeds"


def test_every_file_that_the_page_names_exists():
    for line in seeds.PAGE.read_text(encoding="utf-8").partition(seeds.TABLES.end)[2].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        for cell in cells[4:6] if len(cells) > 5 else ():
            for name in cell.split("`")[1::2]:
                assert (seeds.ROOT / name).exists() or (seeds.ROOT / "course_lib" / name).exists(), name


def test_what_they_ran_is_taught_where_the_page_says():
    rows = [line.split(" | ") for line in seeds.PAGE.read_text(encoding="utf-8").partition("## What they ran")[2].splitlines()
            if re.match(r"\| [LWNCK] \|", line)]
    assert Counter(row[0][2] for row in rows) == {"L": 10, "W": 9, "N": 4, "C": 11, "K": 7}
    for _, what, taught, *_ in rows:
        sections = re.findall(r"\[\d\d\]\(\.\./(notebooks/\w+\.ipynb)\) \*(.+?)\*(?:, \[|$)", taught)
        assert sections, what
        for notebook, heading in sections:
            cells = json.loads((seeds.ROOT / notebook).read_text(encoding="utf-8"))["cells"]
            headings = [line for cell in cells if cell["cell_type"] == "markdown" for line in "".join(cell["source"]).splitlines()]
            assert f"## {heading}" in headings, f"{what}: {notebook} has no section {heading!r}"
