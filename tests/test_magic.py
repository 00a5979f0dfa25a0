"""`%%cuda`: the text lands under its name, and a message names the line of the cell."""

import pytest
from cpu_tools import matrices, needs_c
from IPython.core.interactiveshell import InteractiveShell

from course_lib import magic
from course_lib.errors import CourseError
from course_lib.run import count_lines, mismatch, run_cpu
from course_lib.toolchain import CompileError

CELL = 'extern "C" __global__ void one(float* x) { *x = 1.0f; }\n'


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext course_lib.magic")
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_becomes_a_text_and_one_line_is_printed(shell, capsys):
    assert shell.run_cell("%%cuda one\n" + CELL).success
    assert capsys.readouterr().out == "one: compiled, 8 registers a thread, no shared memory\n"
    assert shell.user_ns["one"] == "// %%cuda one\n" + CELL
    assert magic.from_cell("%%cuda one\n" + CELL) == ("one", shell.user_ns["one"])


def test_shared_memory_is_counted(capsys):
    body = CELL.replace("{ *x", "{ __shared__ float s[96]; s[threadIdx.x] = *x; __syncthreads(); *x = s[5]; *x")
    magic.cuda("mine", body.replace("*x = 1.0f;", ""), {})
    assert "mine, kernel one: compiled" in (out := capsys.readouterr().out)
    assert "384 bytes of shared memory a block" in out


def test_an_error_names_the_line_of_the_cell_and_hides_the_library(shell, capsys):
    result = shell.run_cell("%%cuda one\n// a comment\n" + CELL.replace("1.0f", "y"))
    assert isinstance(result.error_in_exec, CompileError)
    shown = capsys.readouterr().out
    assert "line 3: error" in shown
    assert "*x = y" in shown
    assert "Traceback" not in shown
    assert "a comment" in shell.user_ns["one"], "a check that runs next sees this text and no older one"


@pytest.mark.parametrize(("line", "says"), [("", "needs a name"), ("two words", "one name"), ("class", "one name")])
def test_a_name_that_is_none(line, says):
    with pytest.raises(CourseError, match=says):
        magic.cuda(line, CELL, {})


def test_a_text_without_a_kernel():
    with pytest.raises(CourseError, match="holds no kernel"):
        magic.cuda("nothing", "__device__ int x;", {})


def test_a_cell_that_is_no_kernel():
    with pytest.raises(CourseError, match="begins with %%cuda NAME"):
        magic.from_cell("print(1)")


LOOPS = "for (int i = 0; i < M; ++i)\n    for (int k = 0; k < K; ++k)\n        C(i, 0) += A(i, k) * B(k, 0);\n"


@needs_c
def test_a_cell_of_c_becomes_a_program_for_the_cpu(shell, capsys):
    assert shell.run_cell("%%c mine\n" + LOOPS).success
    assert capsys.readouterr().out == "mine: compiled\n"
    assert shell.user_ns["mine"] == "// %%c mine\n" + LOOPS
    assert magic.from_cell("%%c mine\n" + LOOPS) == ("mine", shell.user_ns["mine"])
    A, B, _ = matrices(3, 1, 5)
    assert mismatch(run_cpu(shell.user_ns["mine"], A, B, timed=False).C, A, B) is None


@needs_c
def test_an_error_in_c_names_the_line_of_the_cell(shell, capsys):
    assert not shell.run_cell("%%c mine\n" + LOOPS.replace("B(k, 0)", "b")).success
    assert "mine does not compile (1 error)\nline 4: error" in capsys.readouterr().out


@needs_c
def test_an_index_outside_names_the_line_of_the_cell(shell):
    shell.run_cell("%%c mine\n" + LOOPS.replace("k < K", "k <= K"))
    with pytest.raises(CourseError, match=r"mine, line 4: A\(0, 5\) does not exist"):
        count_lines(shell.user_ns["mine"], *matrices(3, 1, 5)[:2])


def test_without_a_compiler_the_text_is_kept(monkeypatch, capsys):
    monkeypatch.setattr(magic, "no_compiler", lambda: "there is no C compiler")
    names = {}
    magic.c("mine", LOOPS, names)
    assert names["mine"] == "// %%c mine\n" + LOOPS
    assert capsys.readouterr().out == "mine: kept, not compiled: there is no C compiler\n"
