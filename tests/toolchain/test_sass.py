"""Machine code: instructions with their lines, and the loops they form."""

import os

import pytest

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.toolchain import SassInstruction, binaries, compile_cuda, loops, sass

VECTORS = """
extern "C" __global__ void k(const float4* a, const double2* b, float4* c, double* d, const unsigned char* e) {
    c[threadIdx.x] = a[threadIdx.x];
    d[threadIdx.x] = b[threadIdx.x].x * b[threadIdx.x].y
        + e[threadIdx.x];
}
"""


def code(*lines):
    """Write instructions as (predicate, opcode, operands), 16 bytes each."""
    return tuple(SassInstruction(16 * n, predicate, opcode, operands, n + 1)
                 for n, (predicate, opcode, *operands) in enumerate((p, o, *x) for p, o, *x in lines)
                 for operands in [tuple(operands)])


def shape(found):
    return [(loop.start, loop.end, loop.depth, loop.counts["instructions"]) for loop in found]


def test_widths_and_lines():
    found = [(i.base, i.bits, i.line) for i in sass(compile_cuda(VECTORS)) if i.bits and i.base in ("LDG", "STG")]
    assert sorted(found) == [("LDG", 8, 5), ("LDG", 128, 3), ("LDG", 128, 4), ("STG", 64, 4), ("STG", 128, 3)]


def test_offsets_operands_predicates_and_text():
    instructions = sass(compile_cuda('extern "C" __global__ void k(int* x) { if (threadIdx.x < 3) x[2] = 5; }'))
    assert [i.offset for i in instructions] == list(range(0, 16 * len(instructions), 16))
    store = next(i for i in instructions if i.base == "STG")
    address, value = store.operands
    assert address.startswith("desc[")
    assert address.endswith("+0x8]")
    assert store.text == f"STG.E {address}, {value}"
    leave = next(i for i in instructions if i.opcode == "EXIT" and i.predicate)
    assert leave.text == f"{leave.predicate} EXIT"
    assert instructions[-1].opcode == "EXIT"


def test_code_from_a_header_has_no_line_of_the_readers():
    source = "\n" * 40 + '#include <cuda_fp16.h>\nextern "C" __global__ void k(half2* x) { *x = __hfma2(*x, *x, *x); }'
    lines = {i.line for i in sass(compile_cuda(source))}
    assert lines <= {42, None}
    assert 42 in lines


@pytest.mark.slow
def test_one_of_several_kernels():
    compiled = compile_cuda('extern "C" __global__ void one(int* x) { *x = 1; }\n'
                            'extern "C" __global__ void two(int* x) { *x = 2; }')
    assert {i.line for i in sass(compiled, "two")} == {2}
    with pytest.raises(CourseError, match=r"holds 2 kernels \((one, two|two, one)\): name one with entry="):
        sass(compiled)
    with pytest.raises(CourseError, match="no kernel 'three', only"):
        sass(compiled, "three")


def test_a_text_without_kernels():
    with pytest.raises(CourseError, match="no kernel"):
        sass(compile_cuda("__device__ int x;"), "k")


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_the_tiled_kernels_loop(architecture):
    kernel = kernels.get("sgemm_tiled")
    compiled = compile_cuda(kernel.source, arch=architecture, defines=kernel.defines(BM=16, BN=16, BK=16))
    counts = max((loop.counts for loop in loops(sass(compiled))), key=lambda c: c["FFMA"])
    assert counts["FFMA"] % 16 == 0
    turns = counts["FFMA"] // 16
    assert (counts["LDG.32"], counts["STS.32"], counts["BAR"]) == (2 * turns, 2 * turns, 2 * turns)
    words = counts["LDS.32"] + 2 * counts["LDS.64"] + 4 * counts["LDS.128"]
    assert words == 32 * turns
    assert counts["LDS"] == counts["LDS.32"] + counts["LDS.64"] + counts["LDS.128"]


def test_nested_loops_of_a_real_kernel():
    source = """extern "C" __global__ void k(const double* x, double* y, int n) {
        double sum = 0;
        #pragma unroll 1
        for (int i = 0; i < n; ++i) {
            #pragma unroll 1
            for (int j = 0; j < i; ++j)
                sum += x[i] * x[j];
            y[i] = sum;
        }
    }"""
    outer, inner = loops(sass(compile_cuda(source)))
    assert (outer.depth, inner.depth) == (1, 2)
    assert outer.start < inner.start <= inner.end < outer.end
    assert (inner.counts["DFMA"], outer.counts["DFMA"]) == (1, 1)
    assert inner.counts["STG"] == 0
    assert outer.counts["STG.64"] == 1
    assert 7 in inner.lines
    assert 8 not in inner.lines


def test_the_code_for_diverged_warps_is_no_loop():
    source = """extern "C" __global__ void k(float* x, int n) {
        float v = x[threadIdx.x];
        if (v > 3) for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
        x[threadIdx.x] = v;
    }"""
    instructions = sass(compile_cuda(source))
    assert any(i.opcode.startswith("BRA.DIV") for i in instructions)
    assert loops(instructions) == ()
    inside = loops(code((None, "MOV"), (None, "BRA.DIV", "UR4", "0x50"), (None, "SHFL"), ("@P0", "BRA", "0x10"), (None, "EXIT"),
                        (None, "WARPSYNC"), (None, "BRA", "0x30")))
    assert shape(inside) == [(16, 48, 1, 3)]


def test_loops_by_hand():
    simple = code((None, "MOV"), (None, "FFMA", "R0", "R0"), ("@P0", "BRA", "0x10"), (None, "EXIT"))
    assert shape(loops(simple)) == [(16, 32, 1, 2)]
    endless = code((None, "MOV"), (None, "LDG.E.64"), (None, "BRA", "0x10"))
    assert shape(loops(endless)) == [(16, 32, 1, 2)]
    two_ways_back = code((None, "MOV"), (None, "FFMA"), ("@P0", "BRA", "0x10"), (None, "FADD"), (None, "BRA", "P1", "0x10"),
                         (None, "EXIT"))
    assert shape(loops(two_ways_back)) == [(16, 64, 1, 4)]
    either_way_back = code((None, "MOV"), (None, "ISETP"), ("@P0", "BRA", "0x50"), (None, "FADD"), (None, "BRA", "0x10"),
                           (None, "FMUL"), ("@P2", "BRA", "0x10"), (None, "EXIT"))
    assert shape(loops(either_way_back)) == [(16, 96, 1, 6)]
    on_itself = code((None, "MOV"), ("@!P0", "BRA", "0x10"), (None, "EXIT"))
    assert shape(loops(on_itself)) == [(16, 16, 1, 1)]


def test_what_only_looks_like_a_loop():
    out_of_line = code((None, "MOV"), ("@P0", "BRA", "0x50"), (None, "FADD"), (None, "STG.E"), (None, "EXIT"),
                       (None, "FMUL"), (None, "BRA", "0x20"))
    assert loops(out_of_line) == ()
    after_the_end = code((None, "EXIT"), (None, "BRA", "0x10"))
    assert loops(after_the_end) == ()
    called = code((None, "CALL.REL.NOINC", "0x30"), (None, "STG.E"), (None, "EXIT"), (None, "FADD"),
                  ("@P0", "BRA", "0x30"), (None, "RET.REL.NODEC"))
    assert loops(called) == ()
    assert loops(()) == ()


def test_three_deep():
    found = loops(code((None, "MOV"), (None, "MOV"), (None, "LDS.128"), (None, "FFMA"), ("@P0", "BRA", "0x30"),
                       ("@P1", "BRA", "0x20"), (None, "BAR"), ("@P2", "BRA", "0x10"), (None, "EXIT")))
    assert shape(found) == [(16, 112, 1, 7), (32, 80, 2, 4), (48, 64, 3, 2)]
    assert found[0].counts["LDS.128"] == found[0].counts["BAR"] == 1


def test_a_disassembler_that_is_missing_is_named(monkeypatch):
    def nowhere(name):
        raise binaries.importlib.metadata.PackageNotFoundError(name)
    monkeypatch.setattr(binaries.importlib.metadata, "files", nowhere)
    binaries.find_binary.cache_clear()
    with pytest.raises(CourseError, match="nvdisasm is not there: run `pip install nvidia-cuda-nvdisasm`"):
        sass(compile_cuda('extern "C" __global__ void only_here(int* x) { *x = 71; }'))
    binaries.find_binary.cache_clear()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for a broken tool is a shell script")
def test_a_tool_that_hangs_or_fails_is_named(monkeypatch, tmp_path):
    cubin = compile_cuda('extern "C" __global__ void k(int* x) { *x = 72; }').cubin
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setattr(binaries, "find_binary", lambda name: slow)
    monkeypatch.setattr(binaries, "SECONDS", 0.2)
    with pytest.raises(CourseError, match="did not end within 0.2 s"):
        binaries.run_on_cubin("nvdisasm", cubin)
    slow.write_text("#!/bin/sh\necho no good >&2\nexit 3\n")
    with pytest.raises(CourseError, match="cannot read this machine code: no good"):
        binaries.run_on_cubin("nvdisasm", cubin)
    monkeypatch.setattr(binaries, "find_binary", lambda name: tmp_path / "nothing")
    with pytest.raises(CourseError, match="cannot be started"):
        binaries.run_on_cubin("nvdisasm", cubin)
