"""Code of headers belongs to the reader's line that called it; messages name the header too."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.ptx import parser, variables
from course_lib.simt.ptx.tokens import Tokens

FLOAT, INT = np.float32, np.int32
STAGED = """#include <cuda_pipeline.h>
__device__ __forceinline__ void stage(float* s, const float* x, int t, int n) {
    for (int i = 0; i < n; ++i)
        __pipeline_memcpy_async(&s[t + i], &x[t + i], 4);
    __pipeline_commit();
}
extern "C" __global__ void staged(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    stage(s, x, t, n);
    for (int i = 0; i < n; ++i) {
        stage(s + 128, x, t, n);
        __pipeline_wait_prior(1);
        __syncthreads();
        y[t] += s[127 - t];
        __syncthreads();
    }
}
"""
COPIES = "smsp__sass_inst_executed_op_ldgsts.sum"


def test_each_instruction_of_a_header_counts_for_the_line_that_called_it():
    for n in (1, 3, 5, 8):                         # the unrolled loop, and what it leaves over
        x, y = np.ones(128, FLOAT), np.zeros(64, FLOAT)
        report = simt.launch(STAGED, "staged", 1, 64, [x, y, INT(n)])
        copies = {line: counts[COPIES] for line, counts in report.lines.items() if counts.get(COPIES)}
        assert copies == {4: 2 * n * (n + 1)}


def test_a_fault_in_a_header_names_the_readers_line_and_the_header():
    for n in (1, 3, 4):
        x, y = np.ones(64 + n - 2, FLOAT), np.zeros(64, FLOAT)
        with pytest.raises(simt.OutOfBounds, match=r"^staged, line 4 \(in cuda_pipeline_helpers\.h, line \d+\): thread \(63") as caught:
            simt.launch(STAGED, "staged", 1, 64, [x, y, INT(n)])
        assert caught.value.facts["line"] == 4
        assert "cuda_pipeline_helpers.h" in caught.value.facts["header"]


def test_a_hazard_in_a_header_names_both():
    text = """#include <cooperative_groups.h>
#include <cuda_pipeline.h>
extern "C" __global__ void race(const float* x, float* y) {
    __shared__ float s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[63 - threadIdx.x];
}
"""
    report = simt.launch(text, "race", 1, 64, [np.ones(64, FLOAT), np.zeros(64, FLOAT)], racecheck=True)
    assert any(" at line 5 (in cuda_pipeline_helpers.h, line " in str(h) and " at line 8, and" in str(h) for h in report.hazards)


def test_the_readers_file_need_not_be_the_first(tmp_path):
    (tmp_path / "mine.h").write_text("__device__ __noinline__ float mine(const float* x, int i) {\n\n\n\n\n"
                                     "    return *(volatile const float*)(x + i);\n}\n")
    text = '#include "mine.h"\nextern "C" __global__ void k(float* y) {\n    y[threadIdx.x] = mine(y, 5);\n    y[7] = 1;\n}\n'
    options = [f"-I{tmp_path}"]
    with pytest.raises(simt.OutOfBounds, match=r"^k, line 4: thread"):
        simt.launch(text, "k", 1, 1, [np.zeros(7, FLOAT)], options=options)
    with pytest.raises(simt.OutOfBounds, match=r"^k, line 3 \(in mine\.h, line 6\): thread"):
        simt.launch(text, "k", 1, 1, [np.zeros(5, FLOAT)], options=options)


APART = """__device__ __noinline__ float look(const float* x, int i) {
    return *(volatile const float*)(x + i);
}
__device__ __noinline__ float deep(const float* x, int i) {
    return i > 100 ? deep(x, i - 100) + 1 : look(x, i) + 2;
}
struct Base { __device__ virtual float get(const float* x, int i) const = 0; };
struct One : Base { __device__ __noinline__ float get(const float* x, int i) const override { return look(x, i) * 3; } };
__device__ __noinline__ float raced(volatile float* s) {
    s[threadIdx.x] = 1;
    return s[threadIdx.x ^ 32];
}
"""
CALLS = """#include "apart.h"
extern "C" __global__ void k(float* y, int n, int which) {
    if (which == 0)
        y[0] = look(y, n);
    if (which == 1)
        y[0] = look(y, n + 1);
    if (which == 2)
        y[0] = deep(y, 300 + n);
    if (which == 3)
        y[0] = deep(y, 0) + deep(y, n);
    if (which == 4) {
        One one; Base* volatile base = &one;
        y[0] = base->get(y, n);
    }
}
"""


@pytest.mark.parametrize(("which", "line", "there"), [(0, 4, 2), (1, 6, 2), (2, 8, 2), (3, 10, 2), (4, 13, 2)])
@pytest.mark.parametrize("how", [{}, {"racecheck": True}, {"warp_order": "interleaved"}], ids=str)
def test_a_fault_in_a_function_of_a_header_names_the_call_that_led_there(tmp_path, which, line, there, how):
    (tmp_path / "apart.h").write_text(APART)
    with pytest.raises(simt.OutOfBounds) as caught:
        simt.launch(CALLS, "k", 1, 1, [np.zeros(20, FLOAT), INT(20), INT(which)], options=[f"-I{tmp_path}"], **how)
    error = caught.value
    assert str(error).startswith(f"k, line {line} (in apart.h, line {there}): thread (0, 0, 0)")
    assert (error.facts["line"], error.facts["header"]) == (line, f"apart.h, line {there}")


def test_findings_in_a_function_of_a_header_name_the_calls(tmp_path):
    (tmp_path / "apart.h").write_text(APART)
    one = '#include "apart.h"\nextern "C" __global__ void k(float* y) {\n    __shared__ float s[64];\n    y[threadIdx.x] = raced(s);\n}\n'
    two = one.replace("    y[threadIdx", "    y[0] += raced(s);\n    y[threadIdx")
    options = [f"-I{tmp_path}"]
    found = simt.launch(one, "k", 1, 64, [np.zeros(64, FLOAT)], options=options, racecheck=True)
    assert {(h.first_line, h.second_line) for h in found.hazards} == {(4, 4)}
    assert all("line 4 (in apart.h, line 1" in str(h) for h in found.hazards)
    assert 0 not in found.lines
    found = simt.launch(two, "k", 1, 64, [np.zeros(64, FLOAT)], options=options, racecheck=True)
    assert all("apart.h, line 11, called from lines 4 and 5" in str(h) for h in found.hazards)
    assert {"RAW", "WAR"} & {h.kind for h in found.hazards}


def test_an_endless_loop_in_a_function_of_a_header_names_the_call(tmp_path):
    (tmp_path / "apart.h").write_text("__device__ __noinline__ void spin(volatile int* x) {\n    while (*x == 0) x[1] = 3;\n}\n")
    text = '#include "apart.h"\nextern "C" __global__ void k(int* y) {\n    spin(y);\n    if (y[1] == 5)\n        spin(y);\n}\n'
    with pytest.raises(simt.StepBudgetExceeded, match=r"^k, line 3: thread"):
        simt.launch(text, "k", 1, 1, [np.zeros(4, INT)], options=[f"-I{tmp_path}"], max_steps=1000)


def test_a_refusal_in_a_function_of_a_header_names_the_call(tmp_path):
    (tmp_path / "apart.h").write_text('__device__ __noinline__ void odd(int* x) {\n    asm volatile("griddepcontrol.wait;");\n}\n')
    text = '#include "apart.h"\nextern "C" __global__ void k(int* y) {\n    odd(y);\n}\n'
    with pytest.raises(simt.UnsupportedInstruction, match=r"^line 3 \(in apart\.h, line 2\): .*griddepcontrol"):
        simt.launch(text, "k", 1, 1, [np.zeros(4, INT)], options=[f"-I{tmp_path}"])


def test_a_call_is_remembered_after_the_compiler_has_named_it_once():
    text = """.version 8.8
.target sm_90
.address_size 64
.entry k() {
    .loc 7 9 3
    .loc 2 120 5, function_name $L, inlined_at 7 9 3
    .loc 3 80 1, function_name $L, inlined_at 2 120 5
    membar.gl;
    .loc 7 10 1
    membar.gl;
    .loc 3 81 1, function_name $L, inlined_at 2 120 5
    membar.gl;
    .loc 7 12 3
    .loc 2 120 5, function_name $L, inlined_at 7 12 3
    .loc 3 81 1, function_name $L, inlined_at 2 120 5
    membar.gl;
    .loc 3 82 1, function_name $L, inlined_at 2 999 5
    ret;
}
.file 2 "/include/outer.h"
.file 3 "inner.h"
.file 7 "mine.cu"
"""
    body = parser.parse(text, "mine.cu").functions["k"].body
    assert [(i.line, i.header) for i in body] == [(9, "inner.h, line 80"), (10, ""), (9, "inner.h, line 81"), (12, "inner.h, line 81"),
                                                  (0, "inner.h, line 82")]


@pytest.mark.parametrize("shape", ["b8 t[100]", "u16 t[200]", "s32 t[150]", "b64 t[100]"])
def test_a_long_table_of_numbers_is_one_token(shape):
    kind, size = shape.split()[0], {"b8": 1, "u16": 2, "s32": 4, "b64": 8}[shape.split()[0]]
    values = [(i * i * 7919) % 256 ** size for i in range(100)]
    text = f".version 8.8\n.target sm_90\n.address_size 64\n.global .align 8 .{shape} = {{VALUES}};\n"
    long, short = (text.replace("VALUES", ", ".join(written)) for written in (map(str, values), map(hex, values)))
    found = parser.parse(long).variables["t"]
    assert found == parser.parse(short).variables["t"]
    assert np.frombuffer(found.init, f"u{size}")[:100].tolist() == values, kind
    assert len(Tokens(long).words) < 30 < len(Tokens(short).words)


def test_long_tables_of_two_dimensions_and_too_long_ones():
    text = ".version 8.8\n.target sm_90\n.address_size 64\n.global .b8 t[{}] = {};\n"
    row = "{" + ",\n".join(["7"] * 80) + "}"
    assert parser.parse(text.format("2][80", "{" + row + ", " + row + "}")).variables["t"].init == b"\7" * 160
    with pytest.raises(simt.PtxSyntaxError, match="80 bytes of initial values for 79 bytes"):
        parser.parse(text.format(79, row))


def test_the_compilers_own_header_is_not_named():
    text = """extern "C" __global__ void k(int* x) {
    atomicAdd(x + threadIdx.x, 1);
}
"""
    with pytest.raises(simt.OutOfBounds, match=r"^k, line 2: thread \(4, 0, 0\)"):
        simt.launch(text, "k", 1, 32, [np.zeros(4, INT)])
    with pytest.raises(simt.UnsupportedInstruction, match=r"^line 2: .* tex\.3d\.v4\.f32\.f32 \(three-dimensional"):
        simt.launch(text.replace("int* x", "float* x, cudaTextureObject_t t").replace("atomicAdd(x + threadIdx.x, 1)",
                    "x[threadIdx.x] = tex3D<float>(t, threadIdx.x, 0, 0)"), "k", 1, 32, [np.zeros(32, FLOAT), np.uint64(1)])


def table(kind, numbers, shape=""):
    """The initial value of a table in PTX."""
    declared = f".global .align 8 .{kind} t{shape or f'[{len(numbers)}]'} = {{{', '.join(numbers)}}};\n"
    return parser.parse(f".version 8.8\n.target sm_90\n.address_size 64\n{declared}").variables["t"].init


@pytest.mark.parametrize("kind", ["b8", "u16", "s32", "b64", "b128"])
def test_a_long_table_has_the_bytes_that_its_numbers_have_one_by_one(kind):
    rng = np.random.default_rng(5)
    for most in (1 << 7, 1 << 40, 1 << 62):
        numbers = [str(n) for n in rng.integers(0, most, 90)]
        one_by_one = [numbers[0], hex(int(numbers[1])), *numbers[2:]]
        assert table(kind, numbers) == table(kind, one_by_one)
        assert table(kind, numbers, "[100]") == table(kind, one_by_one, "[100]")
        assert table(kind, numbers, "[]") == table(kind, one_by_one, "[]")
    for numbers in ([str(1 << 64)] * 70, ["0x1", *[str(1 << 64)] * 70]):
        with pytest.raises(simt.PtxSyntaxError, match="18446744073709551616"):
            table(kind, numbers)


def test_a_long_table_is_not_read_number_by_number(monkeypatch):
    """The tables of curand_kernel.h have 200,000 numbers, and took most of the time of a first launch."""
    monkeypatch.setattr(variables.Variables, "element", None)
    assert table("b32", ["258"] * 1000) == b"\2\1\0\0" * 1000
    with pytest.raises(simt.PtxSyntaxError, match="400 bytes of initial values for 396 bytes"):
        table("b32", ["258"] * 100, "[99]")


def test_long_tables_of_what_is_no_integer_are_read_with_care():
    with pytest.raises(simt.PtxSyntaxError, match="the integer 258 as the initial value of a floating-point number"):
        table("f32", ["258"] * 100)
    assert table("f64", ["0"] * 100) == bytes(800)
