"""The reader's own copies: made once, blank and without outputs, never overwritten, and told when a newer edition is there."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from course_lib.blank import is_blank
from tools import my_course

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
LESSON, EXERCISE = "notebooks/04_tiling.ipynb", "exercises/04_tiling/04_tiling.ipynb"
KERNEL = "%%cuda mine\nvoid mine() {\n    // BEGIN SOLUTION\n    g();\n    // END SOLUTION\n}"


def notebook(*cells):
    """Return a notebook's bytes, its cells with outputs."""
    output = nbformat.v4.new_output("stream", text="the answer")
    made = [nbformat.v4.new_code_cell(text, id=f"c{i}", execution_count=i + 1, outputs=[output]) for i, text in enumerate(cells)]
    return nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 04", id="title"), *made])).encode()


@pytest.fixture
def course(tmp_path):
    """Make a course of one lesson, its exercise called alike, a glossary and a file beside the exercise."""
    for name, data in {"notebooks/04_tiling.ipynb": notebook("1 + 1", KERNEL), "notebooks/glossary.md": b"# words",
                       "notebooks/.ipynb_checkpoints/04_tiling.ipynb": b"{}", "exercises/04_tiling/04_tiling.ipynb": notebook("2 + 2"),
                       "exercises/04_tiling/data.csv": b"1,2"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return tmp_path


def cells(path):
    return nbformat.read(path, as_version=4).cells


def mine(course, name="notebooks/04_tiling.ipynb"):
    return course / "my_course" / name


def files(course):
    return sorted(path.relative_to(course / "my_course").as_posix() for path in (course / "my_course").rglob("*") if path.is_file())


ALL = [".copied.json", "exercises/04_tiling/04_tiling.ipynb", "exercises/04_tiling/data.csv", "notebooks/04_tiling.ipynb",
       "notebooks/glossary.md"]


def test_a_copy_has_no_output_and_a_blank_kernel_with_its_answer_below(course):
    assert my_course.make(course) == [f"your own copies are in my_course/; put there now: {LESSON}, {EXERCISE}"]
    assert files(course) == ALL
    title, plain, kernel, answer = cells(mine(course))
    assert (plain.source, plain.outputs, plain.execution_count) == ("1 + 1", [], None)
    assert kernel.source == "%%cuda mine\nvoid mine() {\n    // write it here\n}"
    assert is_blank(kernel.source)
    assert answer.source.startswith("<details>\n<summary>Show a kernel that works</summary>\n\n```c++\nvoid mine() {\n    g();\n}\n```\n")
    assert cells(mine(course, "exercises/04_tiling/04_tiling.ipynb"))[1].source == "2 + 2", "not the lesson, though it is called alike"
    assert mine(course, "exercises/04_tiling/data.csv").read_bytes() == b"1,2"
    about = nbformat.read(mine(course), as_version=4).metadata["warp_by_warp"]
    assert about["copy_of"] == "notebooks/04_tiling.ipynb"
    nbformat.validate(nbformat.read(mine(course), as_version=4))
    assert my_course.make(course) == []


def test_a_reader_begins_with_the_starter_and_finds_the_solution_below():
    started = KERNEL.replace("    // END", "    // STARTER\n    // f();\n    //     f();\n    // END")
    given, solution = my_course.blank_cell(started.replace("\n}", "\n    h();\n}"))
    assert given == "%%cuda mine\nvoid mine() {\n    f();\n        f();\n    h();\n}"
    assert solution == "%%cuda mine\nvoid mine() {\n    g();\n    h();\n}"
    two = KERNEL.replace("\n}", "\n    k();\n    // BEGIN SOLUTION\n    g();\n    // STARTER\n    // f();\n    // END SOLUTION\n}")
    assert my_course.blank_cell(two)[0] == "%%cuda mine\nvoid mine() {\n    // write it here\n\n    // up to here\n    k();\n    f();\n}"
    with pytest.raises(my_course.BadMarkers, match=r"'f\(\);' behind `// STARTER` must begin with //"):
        my_course.blank_cell(started.replace("// f();", "f();", 1))


def test_what_the_reader_did_is_never_overwritten(course):
    my_course.make(course)
    mine(course).write_text("my work")
    mine(course, "notebooks/glossary.md").write_text("my words")
    (course / "notebooks/glossary.md").write_text("new words")
    mine(course, "exercises/04_tiling/04_tiling.ipynb").unlink()
    said, newer = my_course.make(course)
    assert said.endswith(f"now: {EXERCISE}")
    assert newer == ("a newer edition lies beside your own, which stays as it is: my_course/notebooks/04_tiling (new edition).ipynb"), \
        "a file that is no copy of this edition is the reader's"
    assert mine(course).read_text() == "my work"
    assert mine(course, "notebooks/glossary.md").read_text() == "my words"


def test_a_newer_edition_is_put_beside_once_and_said_until_it_is_taken(course):
    my_course.make(course)
    old = mine(course).read_bytes()
    original = course / "notebooks/04_tiling.ipynb"
    original.write_bytes(original.read_bytes().replace(b"the answer", b"another output"))
    assert my_course.make(course) == [], "new outputs are no new edition"
    original.write_bytes(notebook("1 + 2", KERNEL))
    beside = "my_course/notebooks/04_tiling (new edition).ipynb"
    for _ in range(2):
        assert my_course.make(course) == [f"a newer edition lies beside your own, which stays as it is: {beside}"]
    assert mine(course).read_bytes() == old
    assert cells(course / beside)[1].source == "1 + 2"
    original.write_bytes(notebook("1 + 3", KERNEL))
    second = beside.replace("edition", "edition 2")
    assert second in my_course.make(course)[0]
    assert cells(course / beside)[1].source == "1 + 2", "the reader may have worked in it"
    (course / second).replace(mine(course))
    (course / beside).unlink()
    assert my_course.make(course) == []
    mine(course).unlink()
    assert my_course.make(course)[0].endswith(f"now: {LESSON}"), "how to bring a lesson back"
    assert cells(mine(course))[1].source == "1 + 3"


def test_editions_are_said_in_one_line(course):
    my_course.make(course)
    for name in ("notebooks/04_tiling.ipynb", "exercises/04_tiling/04_tiling.ipynb"):
        (course / name).write_bytes(notebook("5"))
    line, = my_course.make(course)
    assert line == ("newer editions lie beside your own, which stay as they are: my_course/notebooks/04_tiling (new edition).ipynb, "
                    "my_course/exercises/04_tiling/04_tiling (new edition).ipynb")


def test_a_file_that_the_reader_left_alone_follows_the_course(course):
    my_course.make(course)
    (course / "notebooks/glossary.md").write_text("new words")
    assert my_course.make(course) == []
    assert mine(course, "notebooks/glossary.md").read_text() == "new words"
    (course / "my_course/.copied.json").write_text("no JSON")
    (course / "notebooks/glossary.md").write_text("newer words")
    my_course.make(course)
    assert mine(course, "notebooks/glossary.md").read_text() == "new words", "when nobody knows who wrote it, it stays"


def test_a_broken_copy_is_the_readers_too(course):
    my_course.make(course)
    for text in ("", "[]", '{"metadata": 3}', '{"metadata": {"warp_by_warp": {"edition": 3}}}'):
        mine(course).write_text(text)
        my_course.make(course)
        assert mine(course).read_text() == text


SLOW = """\
import sys
sys.path.insert(0, {root!r})
import time
from tools import my_course
write = my_course.Copying.write
def slowly(self, name, data, replace=False):
    part = self.part / "half"
    part.write_bytes(data[:10])
    print(name, flush=True)
    time.sleep(60)
my_course.Copying.write = slowly
my_course.make({course!r})
"""


def test_an_interrupted_run_leaves_nothing_half_made_and_the_next_one_goes_on(course):
    code = SLOW.format(root=str(ROOT), course=str(course))
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    left, = (course / "my_course").iterdir()
    assert left.name.startswith(".part-")
    my_course.make(course)
    assert left.exists(), "it may belong to one that is running"
    os.utime(left, (0, 0))
    my_course.make(course)
    assert files(course) == ALL
    assert not left.exists()


def test_a_failure_on_the_way_leaves_whole_files_only(course, monkeypatch):
    monkeypatch.setattr(my_course.os, "link", lambda *paths: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        my_course.make(course)
    assert files(course) == []


def test_many_at_once_do_no_harm(course):
    for i in range(40):
        (course / f"notebooks/{i:02}_more.ipynb").write_bytes(notebook(str(i), KERNEL))
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: my_course.make(course), range(8)))
    assert not any("newer" in line or "not copied" in line for lines in said for line in lines)
    for i in range(40):
        assert cells(mine(course, f"notebooks/{i:02}_more.ipynb"))[1].source == str(i)
    assert not list((course / "my_course").glob(".part-*"))


def test_where_no_file_can_have_two_names(course, monkeypatch):
    def link(*paths):
        raise PermissionError("this file system has no hard links")
    monkeypatch.setattr(my_course.os, "link", link)
    my_course.make(course)
    assert files(course) == ALL
    mine(course).write_text("my work")
    my_course.make(course)
    assert mine(course).read_text() == "my work"


@pytest.mark.parametrize(("text", "says"), [
    (KERNEL.replace("    // END SOLUTION\n", ""), "no `// END SOLUTION`"), (KERNEL.replace("BEGIN", "END"), "stands where it cannot"),
    (KERNEL.replace("END", "BEGIN"), "stands where it cannot"), (KERNEL.replace("BEGIN SOLUTION", "BEGIN SOLUTION now"), "nothing but")])
def test_markers_that_do_not_pair_up_are_named(course, text, says):
    (course / "notebooks/04_tiling.ipynb").write_bytes(notebook("1", text))
    made, wrong = my_course.make(course)
    assert made.endswith(f"now: {EXERCISE}")
    assert re.search(rf"04_tiling\.ipynb was not copied \(BadMarkers: notebooks/04_tiling\.ipynb, cell 2: .*{says}", wrong)


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD", "[]", "{}", '{"cells": [3]}', '{"cells": [{"source": 3}], "metadata": {}}'])
def test_a_broken_notebook_of_the_course_does_not_keep_the_others_away(course, text):
    (course / "notebooks/04_tiling.ipynb").write_text(text)
    _, wrong = my_course.make(course)
    assert wrong.startswith("notebooks/04_tiling.ipynb was not copied")
    assert wrong.endswith("with `git checkout notebooks/04_tiling.ipynb` or from the zip file")
    assert mine(course, "exercises/04_tiling/04_tiling.ipynb").exists()


def test_it_needs_nothing_but_python(course):
    """`make lab` copies lessons before anything is imported from what it installed."""
    tools = Path(my_course.__file__)
    alone = [sys.executable, "-I", "-S", "-c", f"import runpy; runpy.run_path({str(tools)!r})['make']({str(course)!r})"]
    subprocess.run(alone, check=True)
    assert files(course) == ALL


def test_links_between_copies_lead_to_copies():
    """From every lesson and exercise: what a link names is copied, or is no page of the course (../docs is read on GitHub)."""
    names = set(my_course._names(ROOT))
    for name in names:
        if name.endswith(".ipynb"):
            cells = json.loads((ROOT / name).read_bytes())["cells"]
            text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")     # `[&](int i)` is no link
            for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
                path = os.path.normpath(os.path.join(os.path.dirname(name), target))
                assert path in names or path.startswith("docs"), f"{name} leads to {path}"


def marked(path):
    """Return a lesson as a parameter: slow for the one whose own tests do not run its blank copy; the others are run there, or by nbval."""
    return pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem == "19_busy" else pytest.mark.exhaustive)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", [marked(path) for path in LESSONS])
def test_run_all_on_the_readers_copy_of_every_lesson_reaches_the_end(path, tmp_path):
    """As a student does it who has written no kernel yet: no answer before, no failed cell after."""
    from nbclient import NotebookClient

    data, _ = my_course.reader_copy(path.read_bytes(), f"notebooks/{path.name}")
    copy = nbformat.reads(data.decode(), as_version=4)
    code = [cell for cell in copy.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    client = NotebookClient(copy, timeout=300, kernel_name="python3", store_widget_state=False,
                            resources={"metadata": {"path": tmp_path}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)})
    assert all(cell.execution_count for cell in code if cell.source.strip())
    for cell in code:
        failed = [output for output in cell.outputs if output.output_type == "error"]
        assert not failed or "raises-exception" in cell.metadata.get("tags", ()), cell.source
