"""The machine's own C compiler: found, asked for what it can do, its programs kept and called."""

import ctypes
import re
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cpu_tools import needs_c

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.toolchain import CompileError, CrashedError, call_in_subprocess, compile_c, gemm_call, host
from course_lib.toolchain.host_compiler import host_compiler

ANSWER = "int answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))


def answer(program, name="answer"):
    return program.function(name, result=ctypes.c_int)()


def wrapper(folder, name, script):
    """Write a program for the shell that stands in for a compiler."""
    path = folder / name
    path.write_text("#!/bin/sh\n" + textwrap.dedent(script))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


posix = pytest.mark.skipif(sys.platform == "win32", reason="stands in for a compiler by a shell script")


def test_without_a_compiler_one_sentence_says_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    for platform, words in (("linux", "sudo apt install gcc"), ("darwin", "xcode-select --install"), ("win32", "WSL 2")):
        monkeypatch.setattr(sys, "platform", platform)
        with pytest.raises(CourseError, match="no C compiler is found") as caught:
            compile_c(ANSWER)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "words"), [
    ("no-such-compiler", "names 'no-such-compiler' as C compiler, but there is no such program"),
    ("cl", "Microsoft's cl has neither C11's vectors nor POSIX threads"),
    (r"/opt/tools/cl.exe /nologo", "Microsoft's cl"),
])
def test_a_wrong_cc_is_named(monkeypatch, value, words):
    monkeypatch.setenv("CC", value)
    with pytest.raises(CourseError, match=re.escape(words)):
        host_compiler()


@posix
def test_only_microsofts_compiler_on_the_path(monkeypatch, tmp_path):
    wrapper(tmp_path, "cl", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(CourseError, match="the only C compiler here is Microsoft's cl"):
        host_compiler()


@posix
@pytest.mark.parametrize(("script", "words"), [
    ("echo 'xcode-select: note: No developer tools were found' >&2; exit 1", "No developer tools were found"),
    ("exit 0", "cannot be loaded"),
])
def test_a_compiler_that_does_not_work_is_told(monkeypatch, tmp_path, script, words):
    monkeypatch.setenv("CC", str(wrapper(tmp_path, "mycc", script)))
    with pytest.raises(CourseError, match="it does not work") as caught:
        host_compiler()
    assert words in str(caught.value)


@needs_c
@posix
def test_a_compiler_that_knows_few_options_still_serves(monkeypatch, tmp_path):
    real = host_compiler().command[0]
    monkeypatch.setenv("CC", str(wrapper(tmp_path, "mycc", f"""
        for option in "$@"; do case "$option" in
            -march=*|-fno-loop*|-fopenmp|-Wl,*) echo "error: unsupported option '$option'" >&2; exit 1;;
        esac; done
        exec {real} "$@"
        """)))
    compiler = host_compiler()
    assert not any(option.startswith(("-march", "-Wl")) for option in compiler.options)
    assert "-ffp-contract=fast" in compiler.options
    assert compiler.as_written == ()
    assert answer(compile_c(ANSWER, as_written=True)) == 42
    with pytest.raises(CourseError, match="cannot build OpenMP programs: gemm_pthreads does the same without"):
        compile_c(ANSWER, openmp=True)


@needs_c
def test_the_same_request_is_answered_from_disk(monkeypatch):
    first = compile_c(ANSWER, name="a b.c")
    monkeypatch.setattr(host, "_build", None)
    again = compile_c(ANSWER, name="a b.c")
    assert again == first
    assert answer(again) == 42


@needs_c
@pytest.mark.parametrize("other", [{"source": ANSWER + "\n"}, {"defines": {"X": 1}}, {"options": ["-O1"]}, {"as_written": True},
                                   {"name": "other.c"}])
def test_whatever_matters_makes_another_library(other):
    if other == {"as_written": True} and not host_compiler().as_written:
        pytest.skip("this compiler has no options that keep the order of loops")
    assert compile_c(ANSWER).path != compile_c(**{"source": ANSWER, **other}).path


@needs_c
def test_another_compiler_or_cpu_makes_another_library(monkeypatch):
    paths = {compile_c(ANSWER).path}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another")
    paths.add(compile_c(ANSWER).path)
    monkeypatch.setenv("CC", f"{host_compiler().command[0]} -DX=1")
    paths.add(compile_c(ANSWER).path)
    assert len(paths) == 3


@needs_c
@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_a_damaged_library_is_made_anew(damage):
    program = compile_c(ANSWER)
    host._load.cache_clear()
    content = program.path.read_bytes() if damage is None else damage
    program.path.unlink()
    program.path.write_bytes(content[:len(content) // 2] if damage is None else damage)
    assert answer(compile_c(ANSWER)) == 42


@needs_c
def test_a_cache_that_cannot_be_made_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file"))
    with pytest.raises(CourseError, match="set the environment variable COURSE_CACHE"):
        compile_c(ANSWER)


@needs_c
def test_the_cache_stays_small_and_holds_no_leftovers(monkeypatch):
    monkeypatch.setattr(host, "CACHE_BYTES", 40_000)
    for i in range(6):
        program = compile_c(f"int answer(void) {{ return {i}; }}")
    assert answer(program) == 5
    files = list(host.cache_folder().iterdir())
    assert sum(f.stat().st_size for f in files) < 60_000
    assert not [f for f in files if ".part" in f.name]


@pytest.mark.slow
@needs_c
def test_many_threads_and_processes_at_once(tmp_path):
    code = ("from course_lib.toolchain import compile_c; import ctypes\n"
            "print([compile_c('int answer(void) { return %d; }' % (i % 2)).function('answer', result=ctypes.c_int)() for i in range(4)])")
    others = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: answer(compile_c(f"int answer(void) {{ return {i % 2}; }}")), range(12)))
    assert found == [i % 2 for i in range(12)]
    assert [other.communicate(timeout=120)[0] for other in others] == ["[0, 1, 0, 1]\n"] * 3


@needs_c
@pytest.mark.parametrize(("source", "line", "words"), [
    ("int f(void) {\n  return x;\n}", 2, "x"),
    ("int f(void) { return g(1); }", 1, "g"),
    ("\n\n#include <no/such.h>\n", 3, "no/such.h"),
    ("}", 1, ""),
    ("int f(void) {", 1, ""),
    ("int g(int);\nint f(void) { return g(1); }", None, "g: called, but defined nowhere"),
])
def test_errors_carry_the_readers_own_lines(source, line, words):
    with pytest.raises(CompileError) as caught:
        compile_c(source, name='my "own" text')
    first = next(d for d in caught.value.diagnostics if d.severity == "error")
    assert words in first.message
    assert first.line in (line, None if line is None else line + source.count("\n"))
    assert first.source_line == ("" if line is None else source.split("\n")[line - 1])
    assert str(caught.value).startswith('my "own" text does not compile')


@needs_c
def test_warnings_are_kept_with_the_library():
    source = "int f(int x) {\n\n  int unused;\n  return x;\n}"
    for _ in range(2):
        (warning,) = compile_c(source).warnings
        assert (warning.line, warning.column, warning.source_line) == (3, 7, "  int unused;")


@needs_c
def test_a_function_that_is_not_there_is_named():
    program = compile_c("static int hidden(void) { return 1; }\nint f(void) { return hidden(); }")
    with pytest.raises(CourseError, match="has no function hidden"):
        program.function("hidden")


@pytest.mark.parametrize(("arguments", "words"), [
    ({"source": b"x"}, "a str, not bytes"), ({"source": "a\0"}, "NUL character"), ({"source": "", "name": "a\nb"}, "single line"),
    ({"source": "", "defines": {"2x": 1}}, "'2x' cannot be defined"),
])
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(CourseError, match=words):
        compile_c(**arguments)


def f32(*shape):
    return np.ones(shape, np.float32)


ALL = f32(8, 12)
READ_ONLY = f32(2, 4)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(("A", "B", "C", "words"), [
    (f32(2, 3), f32(3, 4), np.ones((2, 4)), "all float32 or all float64, but A is float32 and C is float64"),
    (np.ones((2, 3), np.int32), f32(3, 4), f32(2, 4), "A is int32"),
    (f32(2, 3), f32(4, 4), f32(2, 4), "do not fit"),
    (f32(2, 3), f32(3, 4), f32(4, 2), "do not fit"),
    (f32(3, 2).T, f32(3, 4), f32(2, 4), "give np.ascontiguousarray(A)"),
    (f32(2, 3), f32(3, 8)[:, ::2], f32(2, 4), "give np.ascontiguousarray(B)"),
    (f32(2, 3)[::-1], f32(3, 4), f32(2, 4), "give np.ascontiguousarray(A)"),
    (np.broadcast_to(f32(3), (2, 3)), f32(3, 4), f32(2, 4), "give np.ascontiguousarray(A)"),
    (f32(2, 3), f32(3, 4), READ_ONLY, "C is read-only"),
    (ALL[:2, :3], f32(3, 4), ALL[:2, 2:6], "C shares memory with A"),
    (f32(2, 8), ALL[:, :4], ALL[:2, 1:5], "C shares memory with B"),
    (f32(2), f32(3, 4), f32(2, 4), "A must be a NumPy matrix"),
    (f32(2, 0), f32(0, 4), f32(2, 4), "A must be a NumPy matrix with at least one row"),
    ([[1.0]], f32(1, 1), f32(1, 1), "A must be a NumPy matrix"),
])
def test_arrays_that_a_program_cannot_take_are_named(A, B, C, words):
    with pytest.raises(CourseError) as caught:
        gemm_call(None, "gemm", A, B, C)
    assert words in str(caught.value)


@needs_c
def test_neighbours_in_one_array_are_no_aliases():
    path = Path(toolchain.__file__).parents[1] / "kernels/host/gemm_ikj.c"
    whole = np.arange(96, dtype=np.float32).reshape(8, 12).copy()
    A, B, C = whole[:4, :4], f32(4, 4), whole[:4, 4:8]
    expected = A @ B
    gemm_call(compile_c(path.read_text()), "gemm_ikj", A, B, C)()
    assert (expected == C).all()
    assert (whole[:, 8:] == np.arange(96).reshape(8, 12)[:, 8:]).all()


def apart(body, *arrays, **options):
    program = compile_c(f"#include <stdio.h>\n#include <stdlib.h>\nint f(double* x, int n) {{ {body} }}", name="cell")
    x = arrays[0] if arrays else np.arange(4.0)
    return call_in_subprocess(program, "f", ["array", "int"], [x, 4], status=True, **options)


@needs_c
def test_a_call_apart_gives_back_arrays_status_and_text():
    x = np.arange(4.0)
    assert apart('for (int i = 0; i < n; ++i) x[i] *= 2; printf("%d values", n); return 7;', x) == (7, "4 values")
    assert x.tolist() == [0, 2, 4, 6]
    x.flags.writeable = False
    apart("x[0] = 9; return 0;", x)
    assert x[0] == 0


@pytest.mark.sampled(test=2)
@needs_c
@posix
@pytest.mark.parametrize(("body", "words"), [
    ("volatile int* p = (int*)16; return *p;", "read or wrote memory that is not its own"),
    ("x[1 << 28] = 1; return 0;", "memory that is not"),
    ("abort();", "it called abort"),
    ("exit(3);", "it ended with status 3"),
    ("while (*(volatile int*)&n) ; return 0;", "did not end within 0.5 s"),
    ('while (*(volatile int*)&n) puts("endless"); return 0;', "did not end within 0.5 s"),
])
def test_what_ends_a_program_badly_is_told_and_harms_nothing(body, words):
    with pytest.raises(CrashedError) as caught:
        apart(body, limit_s=0.5 if "0.5" in words else 20)
    assert words in str(caught.value)
    assert str(caught.value).startswith("cell ")


@needs_c
@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no process's memory")
def test_a_program_that_takes_all_memory_gets_none():
    assert apart("return malloc((size_t)40 << 30) == NULL;")[0] == 1


def test_the_library_of_numpy_uses_as_many_threads_as_it_is_told():
    before = toolchain.blas().threads
    for threads in (1, 2):
        with toolchain.blas_threads(threads) as library:
            assert library.threads in (threads, None)
            assert library.name
    assert toolchain.blas().threads == before
    assert str(toolchain.Blas("openblas", "0.3", "Haswell", 1)) == "openblas 0.3 (Haswell kernels), 1 thread"
    assert str(toolchain.Blas("accelerate", "", "", None)) == "accelerate, its own number of threads"


def test_the_cpu_has_a_name():
    assert toolchain.cpu_name() == " ".join(toolchain.cpu_name().split()) != ""
    assert toolchain.cpu_count() >= 1
    assert all(number.isdigit() for number in toolchain.cpu_family() or ())
