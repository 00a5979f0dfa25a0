"""A blank kernel cell, in a real notebook kernel: every cell below it says what is missing, none fails, and "Run All" reaches the end."""

import ast
import os
from pathlib import Path

import pytest
from blank_lesson import CELLS, copy_of
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from course_lib import blank
from course_lib.unwritten import NotWritten, Unwritten, is_unwritten
from tools import my_course

ROOT = Path(__file__).resolve().parents[1]
MISSING = "mine is not written yet: write it in its cell, run that cell, then run this one again."

WRONG = "mine does not compile yet: its cell shows what the compiler says; mend it there, then run this cell again."


def run_all(notebook, tmp_path):
    """Run a notebook from top to bottom as "Run All" does, which stops at a cell that fails."""
    client = NotebookClient(notebook, timeout=200, kernel_name="python3", store_widget_state=False,
                            resources={"metadata": {"path": tmp_path}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)})
    return notebook


def shown(cell):
    """Return what a cell shows, as text, an entry for each output."""
    return [output.get("text") or output.get("data", {}).get("text/plain") or output["ename"] for output in cell.outputs]


def test_run_all_on_a_blank_copy_reaches_the_end(tmp_path):
    """Each cell of the fixture says in its first line what it needs: the kernel ("needs mine"), or nothing."""
    notebook = run_all(copy_of(CELLS), tmp_path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(cell.source.startswith("%%cuda mine") for cell in code) == 1
    for cell in code:
        told, first = shown(cell), cell.source.splitlines()[0]
        if first.startswith("%%cuda mine"):
            assert told == ["mine is not written yet: write it in this cell, where it says “// write it here”, and run the cell again. "
                            "The answer is below it."]
        elif first == "# needs mine":
            assert told == [MISSING], cell.source
        else:
            assert not any("not written" in text for text in told), cell.source
        assert not any(output.output_type == "error" for output in cell.outputs), cell.source
    assert shown(code[-1]) == ["'the end'"]


@pytest.mark.slow
def test_with_its_kernel_written_the_same_lesson_runs(tmp_path):
    notebook = copy_of(CELLS)
    answer = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    kernel = answer.split("```c++\n")[1].split("```")[0]
    for cell in notebook.cells:
        if cell.source.startswith("%%cuda mine"):
            cell.source = "%%cuda mine\n" + kernel
    for cell in run_all(notebook, tmp_path).cells:
        assert not any("not written" in text for text in shown(cell)) if cell.cell_type == "code" else True, cell.source


@pytest.mark.slow
def test_a_kernel_that_does_not_compile_shows_why_and_the_cells_below_say_so(tmp_path):
    notebook = copy_of(CELLS)
    for cell in notebook.cells:
        cell.source = cell.source.replace("// write it here", "int x = y;")
    code = [cell for cell in run_all(notebook, tmp_path).cells if cell.cell_type == "code"]
    own = next(cell for cell in code if cell.source.startswith("%%cuda mine"))
    error, = own.outputs
    assert 'line 4: error: identifier "y" is undefined' in error.evalue
    for cell in code:
        if cell.source.startswith("# needs mine"):
            assert shown(cell) == [WRONG]
    assert shown(code[-1]) == ["'the end'"]


def test_other_errors_stop_as_always(tmp_path):
    cells = ["%load_ext course_lib.magic", "from course_lib.run import run\nrun('sgemm_naif', [], [])", "'never'"]
    with pytest.raises(CellExecutionError, match="sgemm_naif"):
        run_all(copy_of(cells), tmp_path)


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext course_lib.magic\n%load_ext course_lib.magic\nfrom course_lib import cp\nimport numpy as np")
    yield shell
    InteractiveShell.clear_instance()


HEAD = '%%cuda mine\nextern "C" __global__ void mine(const float* x, float* y) {\n'
BLANK, WRITTEN = HEAD + "    // write it here\n}", HEAD + "    // write it here\n    y[threadIdx.x] = 2 * x[threadIdx.x];\n}"
LAUNCH = 'cp.RawKernel(mine, "mine")((1,), (4,), (x, y))'


def test_once_written_everything_comes_back(shell, capsys, monkeypatch):
    """An array that the kernel was to fill has its name again; what was never made says which cells to run."""
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    shell.run_cell("x, y = cp.asarray(np.arange(4, dtype=np.float32)), cp.zeros(4, np.float32)")
    shell.run_cell(BLANK)
    shell.run_cell(f"{LAUNCH}\ntotal = y.get().sum()")
    shell.run_cell(BLANK)
    assert not is_unwritten(shell.user_ns["x"]), "the kernel only reads it"
    capsys.readouterr()
    assert shell.run_cell("y.get()").success
    assert shell.run_cell("total + 1").success
    assert capsys.readouterr().out == f"{MISSING}\n" * 2
    assert shell.run_cell(WRITTEN).success
    capsys.readouterr()
    shell.run_cell("total + 1")
    assert capsys.readouterr().out == "total was to come from mine, which was missing then: run the cells from mine on again.\n"
    assert shell.run_cell(f"{LAUNCH}\ntotal = y.get().sum()").success
    assert shell.user_ns["total"] == 12


def test_what_a_cell_made_before_it_ended_stays(shell):
    shell.run_cell(BLANK)
    cell = "a = 1\nb = mine[0]\nc, (d, *e) = 1, (2, 3)\nfor f in range(3):\n    g = f\ndef h(): i = 1\nimport json as j"
    assert shell.run_cell(cell).success
    found = shell.user_ns
    assert found["a"] == 1
    assert {name for name in "bcdefghij" if is_unwritten(found.get(name))} == set("bcdefghj")
    assert "i" not in found


def test_a_blank_cell_forgets_the_kernel_that_was_there(shell, capsys):
    shell.run_cell(WRITTEN)
    shell.run_cell(BLANK + "\n")
    assert is_unwritten(shell.user_ns["mine"])
    for options in (" --list", " --check", " --run A B BM=16"):
        capsys.readouterr()
        assert shell.run_cell(BLANK.replace("%%cuda mine", "%%cuda mine" + options)).success
        assert capsys.readouterr().out.startswith("mine is not written yet")
    assert shell.run_cell("%%c loops\n// write it here").success
    assert is_unwritten(shell.user_ns["loops"])


BODY = "void f(int n) {\n    // write it here\n}\n"


@pytest.mark.parametrize(("text", "is_blank"), [
    (BODY, True), (BODY.replace("\n}", "\n    /* later */\n    // I do not know\n}"), True), ("// write it here", True),
    ("// %%cuda f\n// write it here\n", True), (BODY.replace("// write", "int x; // write"), False),
    (BODY.replace("here", "here\n    g();"), False), (BODY.replace("    // write it here\n", ""), False),
    (BODY.replace("{", "{ g();"), False),
    ("#define X 1\n" + BODY, True), ("void f() { g(); }", False),
    ("a;\n// write it here\n\n// up to here\nb;", True), ("a;\n// write it here\n// c;\n// up to here\nb;", True),
    ("a;\n// write it here\nc;\n// up to here\nb;", False), ("a;\n// write it here\nb;", False), ("a;\nc;\n// up to here\nb;", False),
    ("{\n// write it here\nc;\n// up to here\nb;\n// write it here\n// up to here\n}", True)])
def test_what_is_blank(text, is_blank):
    assert blank.is_blank(text) is is_blank


SOLVED = "%%cuda f\nvoid f() {\n    {mark} BEGIN SOLUTION\n    g();\n    {mark} END SOLUTION\n}".replace("{mark}", "//")


@pytest.mark.parametrize("text", [
    SOLVED, SOLVED.replace("{\n", "{\n    a();\n"), SOLVED.replace("\n}", "\n    b();\n}"),
    SOLVED.replace("\n}", "\n    b();\n}").replace("{\n", "{\n    a();\n"),
    "%%cuda f\n// BEGIN SOLUTION\nvoid f() {}\n// END SOLUTION", "%%cuda f\n#define N 1\n// BEGIN SOLUTION\nvoid f() {}\n// END SOLUTION",
    SOLVED + SOLVED.replace("%%cuda f\n", "\n").replace("f()", "h()")])
def test_what_the_copy_leaves_blank_is_found_blank_and_a_word_in_it_is_not(text):
    """`tools/my_course.py` and `course_lib.blank` know each other's marks, though neither may import the other."""
    blanked, solution = my_course.blank_cell(text)
    assert blank.is_blank(blanked.replace("%%cuda f", "// %%cuda f"))
    assert "g();" not in blanked
    assert "SOLUTION" not in blanked + solution
    assert not blank.is_blank(solution)
    answered = blanked.replace("// write it here", "// write it here\ng();")
    assert not blank.is_blank(answered)
    assert not blank.is_blank(blanked.replace("// write it here", "g();"))


def test_the_line_where_a_cell_ended_is_found():
    names = {"mine": Unwritten("mine")}
    with pytest.raises(NotWritten) as found:
        exec(compile("a = 1\nb = [\n    mine + 1]\nc = 2", "cell", "exec"), names)
    line = blank.failing_line(found.value, names)
    assert line in (2, 3)
    assert blank.names_from(ast.parse("a = 1\nb = [\n    mine + 1]\nc = 2"), line) == ["b", "c"]
