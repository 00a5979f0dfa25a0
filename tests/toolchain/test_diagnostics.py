"""Compiler errors: the reader's own line and column, in the words of the compiler."""

import pytest

from course_lib.errors import CourseError
from course_lib.toolchain import CompileError, compile_cuda, parse_log


def failure(source, **options):
    with pytest.raises(CompileError) as caught:
        compile_cuda(source, **options)
    return caught.value


def test_line_column_and_message_of_every_error():
    error = failure('extern "C" __global__ void k(float* x) {\n  x[0] = 1;\n  y = 3;\n  int unused;\n'
                    '\tx[1] = z + "é" + q;\n}', name="mine.cu")
    found = [(d.line, d.column, d.severity, d.message) for d in error.diagnostics]
    assert found[:3] == [(3, 3, "error", 'identifier "y" is undefined'), (5, 9, "error", 'identifier "z" is undefined'),
                         (5, 19, "error", 'identifier "q" is undefined')]
    assert found[3][:3] == (4, 7, "warning")
    assert error.diagnostics[0].source_line == "  y = 3;"
    assert error.name == "mine.cu"
    assert "3 errors detected" in error.log
    assert isinstance(error, CourseError)


def test_the_message_shows_each_line_with_a_caret_under_the_place():
    error = failure('extern "C" __global__ void k(float* x) {\n\tx[1] = "é" + q;\n}', name="mine.cu")
    assert str(error) == ('mine.cu does not compile (1 error)\nline 2: error: identifier "q" is undefined\n'
                          '\tx[1] = "é" + q;\n\t             ^')


def test_long_lists_are_cut_and_counted():
    source = 'extern "C" __global__ void k() {\n' + "".join(f"  a{i} = 0;\n" for i in range(9)) + "}"
    error = failure(source)
    assert len(error.diagnostics) == 9
    assert str(error).endswith("… and 4 more")
    assert str(error).count("error: ") == 5


def test_continuation_lines_and_notes_belong_to_their_error():
    error = failure('__device__ void h(int);\n__device__ void h(float, int);\n'
                    'extern "C" __global__ void k(float* x) { h(x); }')
    first = error.diagnostics[0]
    assert (first.line, first.severity) == (3, "error")
    assert first.message.endswith("argument types are: (float *)")
    assert {d.line for d in error.diagnostics if d.severity == "note"} <= {1, 2}


def test_an_error_in_a_template_says_from_where():
    error = failure('template <class T> __device__ T g(T a) { return a.foo(); }\n'
                    'extern "C" __global__ void k(int* x) {\n  x[0] = g(x[1]);\n}')
    assert error.diagnostics[0].line == 1
    assert "at line 3" in error.diagnostics[0].message


def test_a_bracket_that_is_never_closed_is_found_at_the_last_line():
    error = failure('extern "C" __global__ void k(int n) {\n  for (int i = 0; i < n; ++i) {\n  }\n\n')
    assert [(d.line, d.severity, d.message) for d in error.diagnostics if d.severity == "error"] == [
        (3, "error", 'expected a "}"')]
    assert 'line 3: error: expected a "}"' in str(error)


def test_a_very_long_line_is_not_printed():
    error = failure("int x = " + "y+" * 5000 + "y;")
    assert error.diagnostics[0].line == 1
    assert len(str(error)) < 1000


def test_a_tile_rule_is_quoted():
    error = failure('static_assert(32 * 64 <= 1024, "one thread per C element of the block tile");')
    assert "one thread per C element of the block tile" in str(error)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_assemblers_errors_lead_back_to_the_source(newline):
    source = newline.join(['extern "C" __global__ void k(float* x) {', "  x[1] = 2;",
                           '  asm("bogus.f32 %0, 1;" : "=f"(x[0]));', "}"])
    (found,) = failure(source).diagnostics
    assert (found.line, found.source_line.strip()[:11]) == (3, 'asm("bogus.')
    assert "bogus" in found.message


def test_too_much_shared_memory_says_the_limit():
    error = failure('extern "C" __global__ void k(float* x) {\n  __shared__ float s[1 << 20];\n  s[threadIdx.x] = 1;\n'
                    '  __syncthreads();\n  *x = s[5];\n}')
    assert "too much shared data" in error.diagnostics[0].message
    assert "48 KiB of shared memory a block" in str(error)


def test_a_missing_host_header_says_what_there_is_instead():
    for header in ("stdio.h", "cmath", "cstdint", "vector", "math.h"):
        assert "cuda/std/cstdint" in str(failure(f"#include <{header}>")), header
    assert "hint" not in str(failure("#include <mine.h>"))


def test_a_missing_header_of_nvidias_says_which_wheels():
    assert "nvidia-cuda-runtime" in str(failure("#include <cuda_fp16_typo.h>"))


def test_a_line_directive_is_followed():
    (found,) = failure('#line 77 "part.cu"\nint x = y;\n').diagnostics[-1:]
    assert (found.file, found.line) == ("part.cu", 77)
    assert "part.cu, line 77: error" in failure('#line 77 "part.cu"\n__device__ int x = y;\n').args[0]


def test_a_header_is_named_without_the_machines_path():
    shown = parse_log("/home/me/venv/include/cuda_fp16.h(12): error: no\n  #error no\n   ^\n", "", "k.cu")[0].show("k.cu")
    assert shown.splitlines()[0] == "cuda_fp16.h, line 12: error: no"


def test_a_name_with_brackets_and_spaces():
    error = failure("int x = y;", name="my (old) kernel.cu")
    assert {d.line for d in error.diagnostics} == {1}
    assert str(error).startswith("my (old) kernel.cu does not compile")


@pytest.mark.parametrize("log", ["", "\n\n", "error", "k.cu(1): error: ", "k.cu(99): error: x\n  y\n  ^", "^\n^",
                                 "ptxas error   : z", "ptxas x, line 5; error   : z", "k.cu(1): remark: x"])
def test_no_log_makes_the_parser_fail(log):
    for found in parse_log(log, "one line", "k.cu", "ptx"):
        assert found.show()
