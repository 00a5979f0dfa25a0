"""What every lesson keeps to: it has the same parts, can be read at one sitting, and all of its outputs are compared.

Lessons of the second edition, `REWRITTEN`, have no caps on words and cells. Their code is what a reader types: short, without assertions.
"""
import ast
import json
import re
from pathlib import Path

import pytest

from course_lib.blank import is_blank
from tools import my_course

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))
REWRITTEN = ("00", "01", "02", "03", "04", "05", "06", "07", "08", "15", "16", "17", "18", "19", "20", "21")    # when all are, the caps go
CELLS, LINES, WORDS, KILOBYTES = 25, 15, 120, 210
LINES_TYPED = 12                         # of a code cell in a lesson of the second edition; kernels may be longer
PREDICT = re.compile(r"(\w+) = predict\((.*?)\)\n\1\Z", re.DOTALL)      # the cell's last line shows it
# From lesson 03 on the reader writes a whole kernel; these lessons are still as they were before that rule.
WITHOUT_A_BLANK = {f"{n:02}" for n in range(3, 17)} - set(REWRITTEN)
NOT_A_STUDENTS = re.compile(r"/(?:home|Users|root|work|tmp|build)/[\w.-]+")


def read(path):
    """Return a notebook's cells."""
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def each(paths):
    """Parametrize a test by notebook."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def source(cell):
    """Return a cell's text."""
    return "".join(cell["source"])


def words(text):
    """Count the words a reader reads: no link targets, no tables' rules, no markup.

    >>> words("Read [the map](docs/architecture.md) **first**.")
    4
    """
    text = re.sub(r"\]\([^)]*\)|<[^>]+>|[|*_`#>-]", " ", text)
    return len([word for word in text.split() if re.search(r"\w", word)])


def problems(cells, size=0, rewritten=False):
    """Return every rule of a lesson that is broken, in words.

    >>> problems([{"cell_type": "markdown", "source": ["word "] * 130}])
    ['cell 0: 130 words of prose; 120 are enough']
    >>> problems([{"cell_type": "markdown", "source": ["word "] * 130}] * 26, rewritten=True)
    []
    """
    found = [f"{size / 1000:.0f} KB; {KILOBYTES} are enough"] if size > KILOBYTES * 1000 else []
    if len(cells) > CELLS and not rewritten:
        found.append(f"{len(cells)} cells; {CELLS} are enough")
    for number, cell in enumerate(cells):
        check = {"code": code_problems, "markdown": prose_problems}.get(cell["cell_type"], lambda cell, rewritten: [])
        found += [f"cell {number}: {text}" for text in check(cell, rewritten)]
    return found


def prose_problems(cell, rewritten=False):
    """Return the rules that a prose cell breaks."""
    count = words(source(cell))
    found = [f"{count} words of prose; {WORDS} are enough"] if count > WORDS and not rewritten else []
    found += ["a picture without alternative text"] * len(re.findall(r"!\[\s*\]\(", source(cell)))
    return found + image_problems(source(cell))


def image_problems(text):
    """Return one problem for each HTML picture without alternative text.

    >>> image_problems('<img src="a.png"><img alt="Two bars" src="b.png">')
    ['a picture without alternative text']
    """
    images = re.findall(r"<img\b[^>]*>", text)
    drawings = re.findall(r"<svg\b[^>]*>", text)
    bad = [tag for tag in images if not re.search(r"\balt=[\"'][^\"']*\w", tag)]
    bad += [tag for tag in drawings if not re.search(r"\b(aria-label|aria-labelledby|aria-hidden)=", tag)]
    return ["a picture without alternative text"] * len(bad)


def typed_problems(text):
    """Return what a reader of the second edition should not have to type, or to read.

    >>> typed_problems("assert 1"), typed_problems("%load_ext x\\na = [[j for j in i] for i in b]"), typed_problems("f(); g()")
    (['an assertion: tests/lessons/ is the place for it'], ['a comprehension in a comprehension'], ['two statements on one line'])
    """
    tree = ast.parse(re.sub(r"^%", "#%", text, flags=re.MULTILINE))
    loops = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    outer = [loop for loop in ast.walk(tree) if isinstance(loop, loops)]
    inner = [n for loop in outer for n in ast.walk(loop) if isinstance(n, loops) and n is not loop]
    found = ["an assertion: tests/lessons/ is the place for it"] if any(isinstance(n, ast.Assert) for n in ast.walk(tree)) else []
    found += ["a comprehension in a comprehension"] if inner else []
    starts = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.stmt)]
    return found + (["two statements on one line"] if len(starts) != len(set(starts)) else [])


def code_problems(cell, rewritten=False):
    """Return the rules that a code cell breaks."""
    text = source(cell)
    kernel = text.startswith(("%%cuda", "%%c "))
    found = typed_problems(text) if rewritten and not kernel else []
    lines, most = text.rstrip().count("\n") + 1, LINES_TYPED if rewritten else LINES
    if lines > most and not (rewritten and kernel):
        found.append(f"{lines} lines of code; {most} are enough")
    if cell.get("execution_count") is None:
        found.append("was never run, so its output is not compared")
    for output in cell.get("outputs", ()):
        found += output_problems(output, cell.get("metadata", {}).get("tags", ()))
    return found


def output_problems(output, tags):
    """Return what is wrong with one output: an error nobody meant, a machine's path, a picture nobody can hear."""
    found = []
    if output["output_type"] == "error" and "raises-exception" not in tags:
        found.append(f"ends with {output['ename']}")
    data = output.get("data", {})
    texts = ["".join(output.get("text", ""))] + ["".join(v) for k, v in data.items() if k.startswith("text/")]
    texts += output.get("traceback", ())
    for text in texts:
        if place := NOT_A_STUDENTS.search(text):
            found.append(f"shows a path of the machine it ran on: {place.group()}")
    if any(kind.startswith("image/") for kind in data) and "text/html" not in data:
        about = [v for kind in output.get("metadata", {}).values() if isinstance(kind, dict) for k, v in kind.items() if k == "alt"]
        if not any(about):
            found.append("a picture without alternative text")
    return found + image_problems("".join(data.get("text/html", "")))


def missing_parts(cells, number, following, rewritten=False):
    """Return what a lesson lacks of the parts that every lesson has.

    Parameters
    ----------
    number : str
        "04".
    following : str
        File name of the lesson after it, or of lesson 00 when it is the last.
    """
    prose = [source(cell) for cell in cells if cell["cell_type"] == "markdown"]
    code = [source(cell) for cell in cells if cell["cell_type"] == "code"]
    tags = [tag for cell in cells for tag in cell.get("metadata", {}).get("tags", ())]
    first = "\n\n".join(prose[:2] if rewritten else prose[:1])               # a picture may stand between the title and the objectives
    return (opening_problems(first, number) + prediction_problems(code, number)
            + ending_problems(cells, number, following, rewritten)
            + ([] if "raises-exception" in tags or any(re.search(r"^#+ .*mistake", text, re.M | re.I) for text in prose)
               else ["no deliberate mistake: a heading that says so, or a cell tagged raises-exception"]))


def blank_problems(cells):
    """Return what is wrong with the kernels that the reader writes: markers that do not pair up, or leave nothing blank."""
    found = []
    for number, cell in enumerate(cells):
        text = source(cell)
        marked = my_course.BEGIN in text or my_course.FINISH in text
        if marked and not (cell["cell_type"] == "code" and text.startswith(("%%cuda", "%%c "))):
            found.append(f"cell {number}: solution markers belong into a %%cuda or %%c cell")
        elif marked:
            try:
                blanked, _ = my_course.blank_cell(text)
                started = f"// {my_course.STARTER}" in text              # the reader begins with a kernel to repair
                found += [] if started or is_blank(blanked) else [f"cell {number}: what the reader gets is not recognised as blank"]
            except my_course.BadMarkers as error:
                found.append(f"cell {number}: {error}")
    return found


def has_a_blank(cells):
    """Tell whether the reader writes a kernel in a lesson."""
    return any(f"// {my_course.BEGIN}" in source(cell) for cell in cells)


def opening_problems(text, number):
    """Return what the first cell lacks: title, minutes, what the lesson needs, objectives."""
    found = [] if re.match(rf"# {number} \S", text) else [f"the first cell does not begin with `# {number} Title`"]
    found += [] if re.search(r"^\*\d+ minutes\. Needs .+\.\*$", text, re.M | re.S) else \
        ["the first cell does not say `*35 minutes. Needs lesson 03; no GPU.*`"]
    objectives = re.findall(r"^- (?:.*\*\*\w+)", text, re.M)
    if "After this lesson you can" not in text or len(objectives) < 3:
        found.append("the first cell does not say what you can do after the lesson: three objectives, their verbs bold")
    return found


def prediction_problems(code, number):
    """Return what is wrong with a lesson's predictions."""
    asked = [match for text in code if (match := PREDICT.search(text.rstrip()))]
    if not asked:
        return ["no prediction: a cell `guess = predict(question, key=…, unit=…)` with `guess` as its last line"]
    found = []
    for match in asked:
        key = re.search(r'key="([^"]*)"', match[2])
        found += [] if key and key[1].startswith(f"{number}-") else [f'a prediction has no key="{number}-…"']
        found += [] if "unit=" in match[2] else ["a prediction has no unit"]
        revealed = any(re.search(rf"\b{match[1]}\.reveal\(", text) for text in code)
        found += [] if revealed else [f"{match[1]}.reveal(…) never says what came out"]
    return found + told_before(code)


def told_before(code):
    """Return which predictions are compared only after a cell has shown what they are compared with: the comparison would tell it again."""
    found = []
    for number, text in enumerate(code):
        for name, actual in re.findall(r"\b(\w+)\.reveal\((.*)\)", text):
            shown = {before.rstrip().splitlines()[-1] for before in code[:number] if before.strip()}
            found += [f"{name} is compared after a cell that shows {known}" for known in re.findall(r"\b\w+\b", actual) if known in shown]
    return found


def ending_problems(cells, number, following, rewritten=False):
    """Return what the end of a lesson lacks: the self-check, then key points, then further reading and the next lesson.

    In the second edition the next lesson stands with the key points, and only optional sections and further reading may follow.
    """
    texts = [source(cell) for cell in cells]
    points = [i for i, text in enumerate(texts) if text.startswith("## Key points") and text.count("\n- ") >= 3]
    asked = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and f'quiz("{number}")' in texts[i]]
    last = texts[-1] if texts else ""
    works = re.findall(r"^- [^*]*\*[^*]+\*", last, re.M)
    found = [] if points else ["no key points: a cell that begins with `## Key points`, with three or more"]
    found += [] if asked else [f'no self-check: a cell `quiz("{number}")`']
    found += ["the self-check stands before the key points"] if points and asked and asked[-1] > points[0] else []
    if not last.startswith("## Further reading") or not 2 <= len(works) <= 4 or "http" in last:
        found.append("the last cell is not `## Further reading` with two to four works, author and *title*, no addresses")
    leads = texts[points[0]] if rewritten and points else last
    if not re.search(rf"\*\*Next:\*\*.*\]\({re.escape(following)}\)", leads, re.S):
        found.append(f"the {'cell of the key points' if rewritten else 'last cell'} does not lead on: **Next:** […]({following})")
    after = re.findall(r"^## (.*)", "\n".join(texts[points[0] + 1:-1]), re.M) if rewritten and points else []
    unmarked = [title for title in after if not title.startswith("Optional: ")]
    found += [f"the section {title!r} after the key points is not marked: ## Optional: …" for title in unmarked]
    return found


def test_there_are_lessons():
    assert LESSONS
    assert LESSONS[0].name == "00_start_here.ipynb"


@each(LESSONS)
def test_lesson(path):
    assert not (found := problems(read(path), path.stat().st_size, path.name[:2] in REWRITTEN)), "\n".join(found)


@each(LESSONS)
def test_lesson_has_its_parts(path):
    following = LESSONS[(LESSONS.index(path) + 1) % len(LESSONS)].name
    assert not (found := missing_parts(read(path), path.name[:2], following, path.name[:2] in REWRITTEN)), "\n".join(found)


def lost_pointers(cells):
    """Return the optional sections that a lesson's prose names, `*Optional: …*`, and does not have."""
    prose = "\n\n".join(source(cell) for cell in cells if cell["cell_type"] == "markdown")
    sections = re.findall(r"^## (Optional: .*)$", prose, re.M)
    return [name for name in (" ".join(found.split()) for found in re.findall(r"\*(Optional: [^*]+)\*", prose)) if name not in sections]


@each(LESSONS)
def test_a_section_that_is_pointed_to_exists(path):
    assert not lost_pointers(read(path))


def test_a_pointer_to_a_section_that_is_gone_is_named():
    texts = ("See *Optional: the\nproof*.", "*Optional: more*", "## Optional: more")
    cells = [{"cell_type": "markdown", "source": [text]} for text in texts]
    assert lost_pointers(cells) == ["Optional: the proof"]


@each(LESSONS)
def test_the_reader_writes_a_kernel(path):
    cells, number = read(path), path.name[:2]
    assert not (found := blank_problems(cells)), "\n".join(found)
    if number >= "03":
        assert has_a_blank(cells) is (number not in WITHOUT_A_BLANK), \
            "from lesson 03 on a %%cuda cell holds a kernel between // BEGIN SOLUTION and // END SOLUTION; take its lesson out of " \
            "WITHOUT_A_BLANK"


KERNEL = "%%cuda mine\nvoid mine() {\n    // BEGIN SOLUTION\n    g();\n    // END SOLUTION\n}"


@pytest.mark.parametrize(("kind", "text", "says"), [
    ("code", KERNEL, ""), ("code", KERNEL.replace("    // END SOLUTION\n", ""), "no `// END SOLUTION`"),
    ("code", KERNEL.replace("%%cuda mine", "1"), "belong into"), ("markdown", KERNEL, "belong into"),
    ("code", KERNEL.replace("// BEGIN SOLUTION", "// BEGIN SOLUTION: a loop"), "nothing but")])
def test_wrong_markers_are_named(kind, text, says):
    found = blank_problems([{"cell_type": kind, "source": [text], "metadata": {}}])
    assert bool(found) is bool(says)
    assert says in "".join(found)


def test_a_comparison_that_tells_nothing_new_is_named():
    asked = 'guess = predict("?")\nguess'
    assert told_before([asked, "report = check(mine)\nreport", "guess.reveal(wrong(report), ask=False)"]) == [
        "guess is compared after a cell that shows report"]
    assert not told_before([asked, "report = check(mine)\nguess.reveal(wrong(report))", "report"])


def test_no_two_predictions_share_a_key():
    keys = [key for path in LESSONS for cell in read(path) if cell["cell_type"] == "code"
            for key in re.findall(r'predict\(.*?key="([^"]*)"', source(cell), re.S)]
    assert len(keys) == len(set(keys))


@each(SOLUTIONS)
def test_solution_shows_no_machine(path):
    bad = [text for cell in read(path) for output in cell.get("outputs", ())
           for text in output_problems(output, cell["metadata"].get("tags", ())) if "path of the machine" in text]
    assert not bad


BROKEN = {
    "cells": ({"cell_type": "markdown", "source": []}, 26, "26 cells"),
    "lines": ({"cell_type": "code", "execution_count": 1, "source": ["a = 1\n"] * 15 + ["b = 2"]}, 1, "16 lines of code"),
    "never run": ({"cell_type": "code", "execution_count": None, "source": ["1"]}, 1, "never run"),
    "error": ({"cell_type": "code", "execution_count": 1, "source": ["1"], "metadata": {},
               "outputs": [{"output_type": "error", "ename": "KeyError", "traceback": []}]}, 1, "ends with KeyError"),
    "path": ({"cell_type": "code", "execution_count": 1, "source": ["1"],
              "outputs": [{"output_type": "stream", "text": ["File /home/ada/x.py"]}]}, 1, "/home/ada"),
    "picture": ({"cell_type": "code", "execution_count": 1, "source": ["1"],
                 "outputs": [{"output_type": "display_data", "data": {"image/png": "…"}, "metadata": {}}]}, 1,
                "without alternative text"),
    "markdown picture": ({"cell_type": "markdown", "source": ["![](a.png)"]}, 1, "without alternative text"),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_rules_can_fail(rule):
    cell, times, says = BROKEN[rule]
    assert says in "\n".join(problems([cell] * times))


def test_a_cell_that_keeps_the_rules_passes():
    picture = {"output_type": "display_data", "data": {"text/html": ['<img alt="Two bars" src="data:,">']}, "metadata": {}}
    wanted = {"output_type": "error", "ename": "CourseError", "traceback": ["CourseError: BM is 48"]}
    cells = [{"cell_type": "code", "execution_count": 1, "source": ["run()"], "outputs": [picture]},
             {"cell_type": "code", "execution_count": 2, "source": ["fail()"], "outputs": [wanted],
              "metadata": {"tags": ["raises-exception"]}}]
    assert problems(cells) == []


GOOD = (
    ("markdown", "# 07 Unrolling: what runs?\n\n*25 minutes. Needs lesson 06; no GPU.*\n\nAfter this lesson you can\n\n"
                 "- **count** instructions;\n- **read** SASS;\n- **say** who unrolled."),
    ("code", 'guess = predict("How many (about)?", key="07-many", unit="instructions")\nguess'),
    ("code", "guess.reveal(3)"),
    ("markdown", "## A deliberate mistake: once too often"),
    ("code", 'quiz("07")'),
    ("markdown", "## Key points\n\n- One.\n- Two.\n- Three."),
    ("markdown", "## Further reading\n\n- Ada, *Notes*.\n- Grace, *Manual*.\n\n**Next:** [08 Register blocking](08_registers.ipynb)."),
)


def lesson(parts=GOOD):
    """Make cells of pairs of kind and text."""
    return [{"cell_type": kind, "source": [text], "metadata": {}} for kind, text in parts]


@pytest.mark.parametrize(("old", "new", "says"), [
    ("# 07 ", "# 06 ", "does not begin with"), ("*25 minutes. ", "*Needs time. ", "35 minutes"), ("Needs lesson 06", "Easy", "Needs"),
    ("- **say** ", "- say ", "three objectives"), ("predict(", "ask(", "no prediction"), ('"07-many"', '"many"', 'key="07-'),
    (', unit="instructions"', "", "no unit"), ("guess.reveal", "print", "never says"), ("\nguess", "", "no prediction"),
    ("A deliberate mistake", "Careful", "no deliberate mistake"), ('quiz("07")', 'quiz("06")', "no self-check"),
    ("## Key points", "## Summary", "no key points"), ("- Three.", "", "no key points"), ("## Further", "## More", "last cell is not"),
    ("*Manual*", "*Manual*, http://a", "last cell is not"), ("- Grace", "Grace", "last cell is not"), ("**Next:**", "Then", "lead on"),
    ("08_registers", "09_outer", "lead on")])
def test_each_part_is_missed(old, new, says):
    assert missing_parts(lesson(), "07", "08_registers.ipynb") == []
    assert any(old in text for _, text in GOOD)
    broken = lesson((kind, text.replace(old, new)) for kind, text in GOOD)
    assert any(says in text for text in missing_parts(broken, "07", "08_registers.ipynb"))


def test_an_error_that_is_meant_counts_as_the_mistake():
    cells = lesson(part for part in GOOD if "mistake" not in part[1])
    cells.insert(3, {"cell_type": "code", "source": ["fail()"], "metadata": {"tags": ["raises-exception"]}})
    assert missing_parts(cells, "07", "08_registers.ipynb") == []


def test_a_self_check_after_the_key_points_is_said():
    cells = lesson(GOOD[:4] + (GOOD[5], GOOD[4], GOOD[6]))
    assert missing_parts(cells, "07", "08_registers.ipynb") == ["the self-check stands before the key points"]


SECOND = (("markdown", "# 07 Unrolling: what runs?\n\n*25 minutes. Needs lesson 06; no GPU.*"), ("code", "picture()"),
          ("markdown", "After this lesson you can\n\n- **a** b;\n- **c** d;\n- **e** f."), *GOOD[1:4],
          GOOD[4],
          ("markdown", "## Key points\n\n- One.\n- Two.\n- Three.\n\n**Next:** [08 Register blocking](08_registers.ipynb)."),
          ("markdown", "## Optional: old slides"), ("markdown", "## Further reading\n\n- Ada, *Notes*.\n- Grace, *Manual*."))


@pytest.mark.parametrize(("old", "new", "says"), [
    ("08_registers", "09_outer", "lead on"),
    ("## Optional: old", "## Old", "is not marked")])
def test_the_second_editions_parts_are_missed(old, new, says):
    assert missing_parts(lesson(SECOND), "07", "08_registers.ipynb", rewritten=True) == []
    broken = lesson((kind, text.replace(old, new)) for kind, text in SECOND)
    assert any(says in text for text in missing_parts(broken, "07", "08_registers.ipynb", rewritten=True))


@pytest.mark.parametrize(("text", "says"), [
    ("a = 1\n" * 13, "13 lines of code"), ("assert a", "an assertion"), ("a = 1; b = 2", "two statements"),
    ("b = [[c for c in d] for d in e]", "a comprehension in a comprehension")])
def test_what_a_reader_types_is_short_and_plain(text, says):
    cell = {"cell_type": "code", "execution_count": 1, "source": [text]}
    assert says in "\n".join(problems([cell], rewritten=True))
    assert problems([cell]) == []


def test_a_kernel_may_be_longer_than_a_cell_of_python():
    cell = {"cell_type": "code", "execution_count": 1, "source": ["%%cuda mine\n" + "// line\n" * 30]}
    assert problems([cell], rewritten=True) == []
