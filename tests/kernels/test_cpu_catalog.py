"""The catalog of the CPU programs, and their sources: headers, defaults, warnings, undefined behaviour."""

import re
import subprocess
from pathlib import Path

import pytest
from cpu_tools import needs_c

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.kernels import CPU_KERNELS, cpu_kernel, own_program
from course_lib.kernels.cpu import FOLDER, ORDERS
from course_lib.toolchain.host_compiler import run_compiler

PROGRAMS = [kernel for kernel in CPU_KERNELS.values() if kernel.kind == "c"]
NAMED = pytest.mark.parametrize("kernel", PROGRAMS, ids=lambda kernel: kernel.name)
HEADER = ("Computes", "Idea", "Edges", "Lesson")


def test_every_program_file_is_in_the_catalog():
    assert {kernel.path.name for kernel in PROGRAMS} == {path.name for path in FOLDER.glob("*.c")}


@NAMED
def test_header_is_short_and_complete(kernel):
    lines = [line for line in kernel.source.split("#include")[0].splitlines() if line.startswith("//")]
    assert len(lines) <= 10
    assert lines[0].startswith(f"// {kernel.path.name} -- ")
    for word in HEADER:
        assert any(line.startswith(f"// {word} ") for line in lines), word
    assert f"notebooks/{kernel.lesson}.ipynb" in kernel.source
    assert all((FOLDER / name).exists() for name in re.findall(r"Next  (\S+)", kernel.source))
    assert max(map(len, kernel.source.splitlines())) <= 140


@NAMED
def test_a_file_and_the_catalog_have_the_same_defaults(kernel):
    written = {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)", kernel.source) if name != "MAX_THREADS"}
    assert written == {name: value for name, value in kernel.defines().items() if name != "REAL"}


@pytest.mark.parametrize("kernel", CPU_KERNELS.values(), ids=CPU_KERNELS)
def test_defaults_and_choices_are_allowed(kernel):
    assert kernel.problems() == ()
    for parameter in kernel.parameters:
        assert parameter.default in parameter.choices
        assert all(parameter.problem(choice) is None for choice in parameter.choices)


def test_the_six_orders_differ_in_three_lines():
    def code(order):
        text = re.sub(r"//.*", "", cpu_kernel(f"gemm_{order}").source).replace(order, "order")
        return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    first = code("ijk")
    for order in ORDERS:
        other = code(order)
        assert sorted(other) == sorted(first)
        loops = re.findall(r"for \(int ([ijk]) ", "\n".join(other).split("scale(M, N, beta, C, ldc);")[1])
        assert "".join(loops) == order


@pytest.mark.parametrize(("name", "parameters", "words"), [
    ("gemm_packed", {"VB": 48}, "VB = 48 is no power of two"),
    ("gemm_packed", {"MR": 5}, "MC = 144 is no multiple of MR = 5: 140 is"),
    ("gemm_packed", {"NV": 3}, "NC = 1024 is no multiple of NV × VB / 4 = 24: 1008 is"),
    ("gemm_blocked", {"BI": 0}, "BI = 0 is too small"),
    ("gemm_blocked", {"bi": 8}, "did you mean BI?"),
    ("gemm_pthreads", {"threads": 1025}, "threads = 1025 is too large"),
    ("gemm_ijk", {"threads": 2}, "threads is no parameter of gemm_ijk"),
])
def test_a_wrong_parameter_is_named_with_what_would_be_right(name, parameters, words):
    with pytest.raises(CourseError, match=re.escape(words)):
        cpu_kernel(name).check(**parameters)


def test_an_unknown_program_is_named_with_what_comes_close():
    with pytest.raises(CourseError, match=r"no CPU program 'gemm_ikl': did you mean gemm_"):
        cpu_kernel("gemm_ikl")
    with pytest.raises(CourseError, match="the programs are python_ijk, gemm_ijk"):
        cpu_kernel("?")


PARAMETERS = "int M, int N, int K, {0} alpha, const {0}* A, int lda, const {0} *B, int ldb, {0} beta, {0}* restrict C, int ldc"


@pytest.mark.parametrize("real", ["float", "double", "REAL"])
def test_an_own_function_is_found_among_others(real):
    text = f"static int min(int a, int b) {{ return a; }}\nvoid mine({PARAMETERS.format(real)}, int threads) {{ }}"
    kernel = own_program(text)
    assert (kernel.entry, kernel.threaded, kernel.counted, kernel.returns_status) == ("mine", True, False, False)


def test_an_own_function_with_other_arguments_is_refused():
    with pytest.raises(CourseError, match=r"mine takes other arguments than a program gets: mine\(int M, int N"):
        own_program("void mine(int M, float* C) { }")
    assert own_program("// void mine(int M, float* C) { }\nC(0, 0) = 1;").entry == "own_loops"


@pytest.mark.sampled(test=6)
@needs_c
@NAMED
@pytest.mark.parametrize("real", ["float", "double"])
def test_no_warning_at_all(kernel, real, tmp_path):
    compiler = toolchain.host_compiler()
    openmp = ("-fopenmp",) if kernel.openmp else ()
    native = [option for option in compiler.options if "native" in option]
    command = [*compiler.command, "-std=c11", "-O3", *native, *openmp, "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
               f"-DREAL={real}", "-c", str(kernel.path), "-o", str(tmp_path / "x.o")]
    succeeded, said = run_compiler(command)
    if kernel.openmp and not succeeded and "openmp" in said.lower():
        pytest.skip("the compiler has no OpenMP")
    assert succeeded, said


# Every array ends where its last element ends, so that the sanitizer sees each access beside it.
DRIVER = Path(__file__).with_name("cpu_driver.c")
SANITIZED = [("address,undefined", name, real) for name in ("gemm_ijk", "gemm_blocked", "gemm_pthreads", "gemm_vectors", "gemm_packed")
             for real in ("float", "double")]
SANITIZED += [("thread", "gemm_pthreads", "float"), ("thread", "gemm_packed", "double")]


@pytest.mark.sampled(test=1, slow=4)
@needs_c
@pytest.mark.parametrize(("sanitizer", "name", "real"), SANITIZED)
def test_no_undefined_behaviour_no_stray_access_no_race(sanitizer, name, real, tmp_path):
    kernel = cpu_kernel(name)
    compiler = toolchain.host_compiler()
    program = tmp_path / "program"
    small = {"gemm_blocked": ["-DBI=5", "-DBJ=7", "-DBK=3"],
             "gemm_packed": ["-DMR=6", "-DNV=2", "-DVB=32", "-DKC=7", "-DMC=12", "-DNC=32"]}.get(kernel.name, [])
    command = [*compiler.command, "-std=c11", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all",
               f"-DREAL={real}", f"-DPROGRAM={kernel.entry}", f"-DTHREADED={int(kernel.threaded)}", f'-DFILE_NAME="{kernel.path}"',
               *small, str(DRIVER), "-o", str(program)]
    trial = tmp_path / "trial.c"
    trial.write_text("int main(void) { return 0; }\n")
    works, said = run_compiler([*compiler.command, f"-fsanitize={sanitizer}", str(trial), "-o", str(tmp_path / "trial")])
    if not works or subprocess.run([tmp_path / "trial"], capture_output=True, check=False).returncode:
        pytest.skip(f"the compiler has no sanitizer for {sanitizer}: {said[-100:]}")
    built, said = run_compiler(command)
    assert built, said
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "all right\n"


@pytest.mark.parametrize("kernel", [k for k in CPU_KERNELS.values() if k.path], ids=lambda k: k.name)
def test_a_listing_begins_at_the_function(kernel):
    line = kernel.source.splitlines()[kernel.first_line - 1]
    assert line.split("(")[0] in {f"{kind} {kernel.entry}" for kind in ("void", "int", "def")}


def test_a_function_of_ones_own_with_a_pragma_gets_openmp():
    text = "void mine(int M, int N, int K, REAL alpha, const REAL* A, int lda, const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {\n%s}"
    assert own_program(text % "  #pragma omp parallel for\n  for (int i = 0; i < M; ++i) C[i] = 0;\n").openmp
    assert not own_program(text % "// no\n/*\n#pragma omp parallel for\n*/\n").openmp
    assert not own_program(text % "").openmp
