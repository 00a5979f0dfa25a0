"""The program that a reader takes home runs as it stands, with CuPy or what stands for it, and finds a wrong kernel."""

import subprocess
import sys
import types

import numpy as np
import pytest
from cupy_programs import PROGRAMS

from course_lib import cp
from course_lib.cp.take_home import LESSON_MARKS
from course_lib.errors import CourseError

SOURCE = PROGRAMS["product"].split('r"""')[1].split('"""')[0]


class Event:
    """An event of a GPU that takes no time."""

    def record(self):
        pass

    def synchronize(self):
        pass


@pytest.fixture
def cupy(monkeypatch):
    """Put the stand-in where the program looks for CuPy."""
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    fake = types.ModuleType("cupy")
    fake.asarray, fake.zeros, fake.RawKernel = cp.asarray, cp.zeros, cp.RawKernel
    fake.cuda = types.SimpleNamespace(Event=Event, get_elapsed_time=lambda begin, end: 1.25)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


def program(code=SOURCE, **options):
    n = np.int32(32)
    A, C = cp.asarray(np.eye(32, dtype=np.float32)), cp.zeros((32, 32), np.float32)
    return cp.take_home(code, (2, 2), (16, 16), (n, n, n, np.float32(1.5), A, A, C), **options)


def test_it_runs_alone(cupy, capsys):
    text = program("// %%cuda product\n" + SOURCE).text
    assert "course_lib" not in text
    assert "%%cuda" not in text
    exec(compile(text, "product.py", "exec"), {"__name__": "__main__"})
    error, time = capsys.readouterr().out.splitlines()
    assert 0 < float(error.removeprefix("largest error ")) < 1e-4
    assert time == "0.125 ms per launch"


def test_the_marks_of_a_lesson_stay_at_home():
    kernel = "\nint a;\n    int b;         // a comment of the reader's own: up to here it is right\n}"
    solved = ("    // BEGIN SOLUTION\n", kernel, "\n    // STARTER\n    // int c;\n    // // and more\n    // END SOLUTION\n}")
    copied = ("    // write it here\n", kernel, "\n    // up to here\n}")
    for before, own, after in (solved, copied):
        assert LESSON_MARKS.sub("", before + own + after) == own + "\n}"
        text = program(SOURCE.replace("{\n", "{\n" + before, 1).rstrip().removesuffix("}") + after.lstrip("\n")).text
        assert text == program().text


def test_it_finds_a_wrong_kernel(cupy):
    for wrong in (SOURCE.replace("A[row * K + k]", "A[k * K + row]"), SOURCE.replace("C[row * N + col] =", "if (row) C[row * N + col] =")):
        with pytest.raises(AssertionError, match="the result is wrong"):
            exec(program(wrong).text, {})


def test_another_kernel_is_told_what_is_right_or_checks_nothing(cupy, capsys):
    text = ('extern "C" __global__ void scale(const int* x, int n, float* y) { extern __shared__ float s[]; '
            "if (threadIdx.x < n) y[threadIdx.x] = FACTOR * x[threadIdx.x]; }")
    kernel, args = cp.RawKernel(text, "scale", ("-DFACTOR=3",)), (cp.zeros(8, np.int32), np.int32(8), cp.zeros(8, np.float32))
    unchecked = cp.take_home(kernel, (1,), (8,), args, shared_mem=16)
    assert "assert" not in unchecked.text
    assert "shared_mem=16" in unchecked.text
    exec(unchecked.text, {})
    exec(cp.take_home(kernel, (1,), (8,), args, right="3 * x + 0 * n", shared_mem=16).text, {})
    with pytest.raises(AssertionError):
        exec(cp.take_home(kernel, (1,), (8,), args, right="4 * x", shared_mem=16).text, {})
    assert "ms per launch" in capsys.readouterr().out


def test_it_is_shown_in_colours_and_saved_once(cupy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = program()
    assert made._repr_markdown_().startswith("```python\n# product.py: needs an NVIDIA GPU")
    made.save()
    assert (tmp_path / "product.py").read_text(encoding="utf-8") == made.text == repr(made)
    subprocess.run([sys.executable, "-m", "py_compile", "product.py"], check=True)
    with pytest.raises(CourseError, match=r"there is a file product\.py already"):
        made.save()


@pytest.mark.parametrize("code", ["int x;", SOURCE + SOURCE.replace("product", "more"), 5])
def test_a_text_without_a_kernel_or_with_several_has_no_program(cupy, code):
    with pytest.raises(CourseError, match="the text of one kernel"):
        program(code)


def test_a_parameter_that_python_keeps_for_itself_gets_an_underscore(cupy, capsys):
    text = 'extern "C" __global__ void twice(const float* in, float* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }'
    made = cp.take_home(text, (1,), (8,), (cp.zeros(8, np.float32), cp.zeros(8, np.float32)), right="2 * in").text
    assert "in_ = cp.asarray(" in made
    exec(made, {})
    assert "ms per launch" in capsys.readouterr().out
