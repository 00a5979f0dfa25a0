"""Compiling: what comes out, what is remembered, and what is said when it cannot work."""

import importlib.metadata
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib import kernels, toolchain
from course_lib.errors import CourseError
from course_lib.toolchain import CompileError, compile_cuda, nvrtc
from course_lib.toolchain.headers import header_wheels, include_directories
from course_lib.toolchain.request import Request

EMPTY = 'extern "C" __global__ void k(float* x) {}'
SCALE = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] *= FACTOR / 3; }'


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("kernel", kernels.KERNELS.values(), ids=kernels.KERNELS)
def test_every_kernel_of_the_course_compiles_without_a_message(kernel):
    options = tuple(nvrtc.define_options(kernel.defines()))
    compiled = nvrtc.compile_here(Request(kernel.source, kernel.path.name, "sm_90", options))
    assert f".entry {kernel.entry}(" in compiled.ptx
    assert ".target sm_90" in compiled.ptx
    assert ".loc" in compiled.ptx
    assert compiled.cubin[:4] == b"\x7fELF"
    assert compiled.log == ""
    assert compiled.warnings == ()
    assert compiled.nvrtc_version == toolchain.nvrtc_version()


def test_the_cubin_is_whole():
    """CuPy 14 cuts its last byte off; sections that end where the file ends would then be damaged."""
    assert toolchain.resources(compile_cuda(EMPTY))
    assert toolchain.sass(compile_cuda(EMPTY))


def test_the_same_request_is_answered_from_memory():
    assert compile_cuda(EMPTY, defines={"A": 1}) is compile_cuda(EMPTY, defines={"A": 1})


@pytest.mark.parametrize("other", [
    {"defines": {"FACTOR": 3}}, {"defines": {"FACTOR": 2.0}}, {"arch": "sm_80"}, {"name": "other.cu"},
    {"options": ["-use_fast_math"]},
])
def test_whatever_matters_makes_another_answer(other):
    first = compile_cuda(SCALE, defines={"FACTOR": 2})
    second = compile_cuda(SCALE, **{"defines": {"FACTOR": 2}, **other})
    assert first is not second
    assert (first.ptx, first.cubin) != (second.ptx, second.cubin)


def test_defines_of_all_kinds():
    source = """
        static_assert(INT == 7 && FLOAT == 0.5 && YES == 1 && NO == 0 && sizeof(TYPE) == 8 && BIG == 4294967296, "");
        extern "C" __global__ void k() {}
    """
    compile_cuda(source, defines={"INT": 7, "FLOAT": 0.5, "YES": True, "NO": False, "TYPE": "double", "BIG": 2**32})


def test_no_host_function_becomes_a_device_function_by_itself():
    with pytest.raises(CompileError, match="write __device__ before it"):
        compile_cuda("float twice(float x) { return 2 * x; }\n" + EMPTY)


def test_cpp17_and_text_beyond_ascii():
    compile_cuda('extern "C" __global__ void k(int* x) { if (const int n = *x; n > 0) *x = 1; }  // größer als 0 ✓')


def test_a_warning_is_kept_and_does_not_stop():
    compiled = compile_cuda('extern "C" __global__ void k() {\n  int unused;\n}')
    (warning,) = compiled.warnings
    assert (warning.line, warning.severity, warning.column) == (2, "warning", 7)
    assert "ptxas" not in compiled.log


def test_a_virtual_architecture_gives_ptx_alone():
    compiled = compile_cuda(EMPTY, arch="compute_90")
    assert ".entry k(" in compiled.ptx
    assert compiled.cubin == b""


@pytest.mark.parametrize(("arguments", "words"), [
    ({"arch": "sm_13"}, "makes no code for sm_13 (older GPUs need NVRTC 12): it knows sm_"),
    ({"arch": "sm_999"}, "makes no code for sm_999: it knows sm_"),
    ({"arch": "90"}, "arch = '90' is no architecture: write sm_90 for compute capability 9.0"),
    ({"arch": 90}, "arch = 90 is no architecture"),
    ({"options": ["--no-such"]}, "unrecognized option --no-such found"),
    ({"options": "-use_fast_math"}, 'must be a sequence of strings, like ["-use_fast_math"]'),
    ({"options": [3]}, "must be a sequence of strings"),
    ({"defines": {"2x": 1}}, "'2x' cannot be defined"),
    ({"defines": {"A B": 1}}, "'A B' cannot be defined"),
    ({"defines": ["BM=3"]}, 'like {"BM": 32}'),
    ({"name": "a\nb"}, "single line"),
    ({"name": ""}, "single line"),
])
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(CourseError) as caught:
        compile_cuda(EMPTY, **arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(("source", "words"), [
    (b"x", "a str, not bytes"), (None, "a str, not NoneType"), ("a\nb\0c", "NUL character at line 2"),
])
def test_a_source_that_is_no_text_is_refused(source, words):
    with pytest.raises(CourseError) as caught:
        compile_cuda(source)
    assert words in str(caught.value)


@pytest.mark.parametrize("junk", ["", "\n", "}", "#", "#if 1", "/*", '"', "\\", "int", "🐟", "x" * 100_000, "(" * 5000])
def test_no_text_makes_it_crash(junk):
    found = None
    try:
        assert compile_cuda(junk).ptx
    except CompileError as error:
        found = error
    assert found is None or (found.diagnostics and len(str(found)) < 1000)


@pytest.mark.slow
def test_many_threads_at_once():
    def work(i):
        if i % 4 == 3:
            with pytest.raises(CompileError) as caught:
                compile_cuda(f"\n\n{'junk'}{i};")
            return caught.value.diagnostics[0].line
        compiled = compile_cuda(f'extern "C" __global__ void k{i}(int* x) {{ *x = {i}; }}')
        return f".entry k{i}(" in compiled.ptx and list(toolchain.resources(compiled)) == [f"k{i}"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(48))) == [3 if i % 4 == 3 else True for i in range(48)]


def installed(wheel):
    try:
        return bool(importlib.metadata.version(wheel))
    except importlib.metadata.PackageNotFoundError:
        return False


HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "mma.h", "cooperative_groups.h", "cuda/std/array")


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("header", HEADERS)
def test_nvidias_headers_are_found_in_their_wheels(header):
    wanted = [wheel for wheel in header_wheels(toolchain.nvrtc_version()[0]) if "curand" not in wheel]     # not among the course's own
    missing = [wheel for wheel in wanted if not installed(wheel)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    compile_cuda(f"#include <{header}>\n{EMPTY}")


def test_include_directories_come_from_wheels_alone(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    include_directories.cache_clear()
    assert all("site-packages" in folder or "dist-packages" in folder for folder in include_directories(13))
    assert include_directories(99) == include_directories(13)
    include_directories.cache_clear()


MISSING = """
import sys
sys.modules["cuda.bindings"] = None
{platform}
from course_lib import toolchain
from course_lib.errors import CourseError
try:
    toolchain.compile_cuda("")
except CourseError as error:
    print(error)
"""


@pytest.mark.parametrize(("platform", "words"), [
    ("", "run `pip install cuda-bindings nvidia-cuda-nvrtc`"),
    ("sys.platform = 'darwin'", "use the dev container (.devcontainer/) or GitHub Codespaces: NVIDIA makes no NVRTC for macOS"),
])
def test_without_nvrtc_one_sentence_says_how_to_get_it(platform, words):
    answer = subprocess.run([sys.executable, "-c", MISSING.format(platform=platform)], capture_output=True, text=True,
                            timeout=60, check=True)
    assert words in answer.stdout
    assert answer.stdout.count("\n") == 1


def test_a_text_is_compiled_once_whatever_it_is_called():
    text = 'extern "C" __global__ void once(float* x) { *x = 1; int unused; }'
    before = nvrtc._compile.cache_info().misses
    first, second = (compile_cuda(text, name=name) for name in ("a.cu", "b.cu"))
    assert nvrtc._compile.cache_info().misses == before + 1
    assert first.cubin == second.cubin
    assert '"a.cu"' in first.ptx
    assert '"b.cu"' in second.ptx
    assert first.log.startswith("a.cu(1)")
    assert [w.message for w in first.warnings] == [w.message for w in second.warnings] != []


def test_a_text_that_asks_for_its_name_gets_it():
    text = 'extern "C" __global__ void named(const char** x) { *x = __FILE__; }'
    ptx = {name: compile_cuda(text, name=name).ptx for name in ("a.cu", "longer.cu")}
    letters = {name: re.search(r"\.b8 \S+\[(\d+)\]", text)[1] for name, text in ptx.items()}
    assert letters == {"a.cu": "5", "longer.cu": "10"}
