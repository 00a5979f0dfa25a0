"""Registers, shared memory, stack and constants, against the assembler's own report and cuobjdump's."""

import contextlib
import importlib
import re
import struct

import pytest

from course_lib import kernels, toolchain
from course_lib.errors import CourseError
from course_lib.toolchain import compile_cuda, resources
from course_lib.toolchain.binaries import run_on_cubin

SOURCE = """
__constant__ float table[40];
extern "C" __global__ void __launch_bounds__(96) plain(float* x, int n) { x[threadIdx.x] = n * table[threadIdx.x & 31]; }
extern "C" __global__ void shared(double* x) {
    __shared__ double s[100];
    extern __shared__ double more[];
    s[threadIdx.x] = x[threadIdx.x]; more[threadIdx.x] = x[0];
    __syncthreads();
    x[threadIdx.x] = s[99 - threadIdx.x] + more[5];
}
extern "C" __global__ void pressed(float* x, int n, const int* at) {
    float a[80];
    for (int i = 0; i < 80; ++i) a[i] = x[i * n + threadIdx.x];
    for (int r = 0; r < n; ++r)
        for (int i = 0; i < 80; ++i) a[i] = a[i] * a[(i + 7) % 80] + r;
    for (int i = 0; i < 80; ++i) x[i] = a[i];
    x[80] = a[*at];
}
__device__ __noinline__ float pick(float x, int n) { float a[4] = {x, 2 * x, 3, x * x}; return a[n & 3]; }
extern "C" __global__ void calls(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = pick(x[i], n); }
"""
ARCHITECTURES = [f"sm_{n}" for n in (75, 80, 86, 89, 90, 100, 120)]


def told_by_ptxas(compiled):
    """Return kernel -> registers, static shared bytes, stack, spill stores, spill loads, from the assembler's words."""
    found = {}
    for name, text in re.findall(r"entry function '(\w+)'(.*?)(?=ptxas info    : Compiling|\Z)", compiled.ptxas_log, re.S):
        def number(pattern, text=text):
            match = re.search(pattern, text)
            return int(match[1]) if match else 0
        found[name] = (number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"),
                       max(number(r"(\d+) bytes stack frame"), number(r"(\d+) bytes cumulative stack")),
                       number(r"(\d+) bytes spill stores"), number(r"(\d+) bytes spill loads"))
    return found


@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("options", [[], ["-maxrregcount=32"], ["-G"], ["-rdc=true"]], ids=" ".join)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_as_the_assembler_tells(arch, options):
    compiled = compile_cuda(SOURCE, arch=arch, options=options)
    found = {name: (r.registers, r.static_shared_bytes, r.local_bytes, r.spill_store_bytes, r.spill_load_bytes)
             for name, r in resources(compiled).items()}
    assert found == told_by_ptxas(compiled)
    assert set(found) >= {"plain", "shared", "pressed", "calls"}
    if "32" in "".join(options):
        assert found["pressed"][3] > 0
        assert found["pressed"][4] > 0


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_as_cuobjdump_tells(arch):
    compiled = compile_cuda(SOURCE, arch=arch)
    report = run_on_cubin("cuobjdump", compiled.cubin, "--dump-resource-usage")
    told = {name: (int(r), int(stack), int(shared)) for name, r, stack, shared in
            re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", report)}
    assert len(told) == 4
    for name, (registers, stack, shared) in told.items():
        mine = resources(compiled)[name]
        assert (mine.registers, mine.local_bytes) == (registers, stack)
        # cuobjdump prints the section, which holds the reserved KiB on CC 9.0 and up, and does not on CC 8.x.
        assert shared - mine.static_shared_bytes in (0, mine.reserved_shared_bytes)


def test_what_the_source_says():
    found = resources(compile_cuda(SOURCE))
    assert found["plain"].max_threads == 96
    assert found["shared"].max_threads is None
    assert {r.constant_bytes for r in found.values()} == {160}
    assert [found[name].parameter_bytes for name in ("plain", "shared", "pressed", "calls")] == [12, 8, 24, 12]
    assert [found[name].static_shared_bytes for name in ("plain", "shared", "pressed", "calls")] == [0, 800, 0, 0]
    assert found["plain"].local_bytes == 0
    assert found["pressed"].local_bytes >= 320
    assert found["calls"].local_bytes == 16


@pytest.mark.parametrize(("arch", "reserved"), [("sm_75", 0), ("sm_80", 1024), ("sm_89", 1024), ("sm_90", 1024)])
def test_the_reserved_kib_is_apart(arch, reserved):
    source = 'extern "C" __global__ void k(int* x) { __shared__ int s[300]; s[threadIdx.x] = *x; __syncthreads(); *x = s[3]; }'
    found = resources(compile_cuda(source, arch=arch))["k"]
    assert (found.static_shared_bytes, found.reserved_shared_bytes) == (1200, reserved)


@pytest.mark.parametrize("tile", [(16, 16, 16), (32, 32, 32), (8, 32, 64)])
def test_the_catalog_says_what_the_cubin_says(tile):
    kernel = kernels.get("sgemm_tiled")
    values = dict(zip(("BM", "BN", "BK"), tile, strict=True))
    found = resources(compile_cuda(kernel.source, defines=kernel.defines(**values)))["sgemm_tiled"]
    assert found.static_shared_bytes == kernel.shared_bytes(**values)
    assert found.max_threads == tile[0] * tile[1]
    assert found.spill_store_bytes == found.spill_load_bytes == 0


def test_a_cubin_alone_does_not_tell_spills():
    compiled = compile_cuda(SOURCE, options=["-maxrregcount=32"])
    whole, alone = resources(compiled)["pressed"], resources(compiled.cubin)["pressed"]
    assert (alone.spill_store_bytes, alone.spill_load_bytes) == (None, None)
    assert (alone.registers, alone.local_bytes) == (whole.registers, whole.local_bytes) == (32, whole.local_bytes)


@pytest.mark.parametrize("read", [resources, toolchain.sass])
@pytest.mark.parametrize(("cubin", "words"), [
    (b"", "there is no machine code"), (b"abc", "this is no cubin: it begins with b'abc'"),
    ("text", "bytes, not str"), (None, "bytes, not NoneType"), (7, "bytes, not int"),
])
def test_what_is_no_cubin_is_refused(read, cubin, words):
    with pytest.raises(CourseError) as caught:
        read(cubin)
    assert words in str(caught.value)


def test_a_damaged_cubin_gives_a_course_error_or_an_answer():
    cubin = compile_cuda(SOURCE).cubin
    for at in range(0, len(cubin), 397):
        for damaged in (cubin[:at] + b"\xff\xff\xff\xff" + cubin[at + 4:], cubin[:at]):
            with contextlib.suppress(CourseError):
                resources(damaged)


def test_another_elf_file_is_no_cubin():
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
    with pytest.raises(CourseError, match="cubin"):
        resources(header)


def test_a_fault_of_ours_is_not_reported_as_damage(monkeypatch):
    def broken(data):
        return {}["missing"]
    monkeypatch.setattr(importlib.import_module("course_lib.toolchain.resources"), "_attributes", broken)
    with pytest.raises(KeyError, match="missing"):
        resources(compile_cuda(SOURCE).cubin)
