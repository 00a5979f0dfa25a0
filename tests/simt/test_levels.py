"""What a report calls the hardware's counts: where lanes of a warp diverge, only what the machine code brings together again."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.host.reconverge import together
from course_lib.toolchain import SassInstruction

REQUESTS, SECTORS = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_{{}}.sum" for what in ("requests", "sectors"))
HARDWARE, PTX = "hardware", "PTX level"
FUNCTIONS = """
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
using Function = int (*)(int, int);
__device__ const Function table[3] = {add, subtract, multiply};
"""
VIRTUAL = """
struct Shape { __device__ virtual int area(int side) const = 0; };
struct Square : Shape { __device__ int area(int side) const override { return side * side; } };
struct Strip : Shape { __device__ int area(int side) const override { return 2 * side + 1; } };
"""
BODIES = {
    "calls through a table": (FUNCTIONS, "z[i] = table[which % 3](x[i], 5);", PTX),
    "virtual calls": (VIRTUAL, """Square square; Strip strip; const Shape* s = &square;
        if (which % 2) s = &strip;
        z[i] = s->area(x[i]);""", PTX),
    "a case that falls through": ("", """int r = 0;
        switch (which) {
        case 0: r += x[i];
        case 1: r += x[i + 1] * 3;
        case 2: r ^= x[i + 2] * r; break;
        case 3: r = x[2 * i];
        default: z[i + 64] = r;
        }
        z[i] = r;""", PTX),
    "an or": ("", "if (which > 3 || x[x[i] & 63] > 4)\n z[i] = x[63 - i] * x[i];", HARDWARE),
    "an and": ("", "if (which > 3 && x[x[i] & 63] > 4)\n z[i] = x[63 - i] * x[i];", HARDWARE),
    "a return": ("", "if (which > 3)\n return;\n z[i] = x[63 - i];", HARDWARE),
    "a return in one branch": ("", """if (which > 3) {
            z[i + 64] = x[i + 1];
            if (x[i + 1] > 4) return;
        } else
            z[i + 128] = x[i + 2];
        z[i] = x[63 - i];""", HARDWARE),
    "both sides": ("", "if (which & 1)\n z[i] = x[63 - i];\n else\n z[i] = x[i] + 1;", HARDWARE),
}


def launched(name, same, arch="sm_90"):
    outside, body, _ = BODIES[name]
    head = 'extern "C" __global__ void f(const int* x, const int* w, int* z) { const int i = threadIdx.x, which = w[i];'
    text = f"{outside}{head}{body}}}"
    rng = np.random.default_rng(3)
    which = np.full(64, 2, np.int32) if same else rng.integers(0, 5, 64).astype(np.int32)
    return simt.launch(text, "f", 1, 64, [rng.integers(0, 9, 200).astype(np.int32), which, np.zeros(200, np.int32)], arch=arch)


@pytest.mark.slow
@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("name", BODIES)
def test_lanes_that_diverge(name):
    level = launched(name, same=False).level
    assert {level[REQUESTS.format(op)] for op in ("ld", "st")} == {level[SECTORS.format(op)] for op in ("ld", "st")} == {BODIES[name][2]}


@pytest.mark.parametrize("name", [name for name in BODIES if name != "virtual calls"])       # reads its table by generic addresses
def test_the_same_kernel_with_lanes_that_stay_together(name):
    level = launched(name, same=True).level
    assert {level[REQUESTS.format(op)] for op in ("ld", "st")} == {HARDWARE}


JUMP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry f(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    and.b32 %r2, %r1, MASK;
    setp.lt.u32 %p1, %r1, 9;
    setp.lt.u32 %p2, %r1, 32;
    ts: .branchtargets L0, L1, L1, L2;
    brx.idx %r2, ts;
L0: mov.u32 %r3, 100;
L1: mov.u32 %r3, 200;
L2: st.global.u32 [%rd2], %r1;
    ret;
}
"""


@pytest.mark.parametrize(("mask", "guard", "level"), [
    (0, "", HARDWARE), (3, "", PTX), (1, "", PTX), (0, "@%p1 ", PTX), (0, "@%p2 ", HARDWARE)])
def test_a_jump_by_a_table(mask, guard, level):
    """`guard`: a jump for some lanes only is one to different places, too."""
    report = simt.launch(JUMP.replace("MASK", str(mask)).replace("brx", guard + "brx"), "f", 1, 32, [np.zeros(32, np.uint32)])
    assert report.level[REQUESTS.format("st")] == level


def test_sectors_of_asynchronous_copies_are_not_called_the_hardwares():
    text = """#include <cuda_pipeline.h>
    extern "C" __global__ void f(const float* x, float* y) {
        __shared__ __align__(16) float s[128];
        __pipeline_memcpy_async(s + 4 * threadIdx.x, x + 4 * threadIdx.x, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        y[threadIdx.x] = s[threadIdx.x];
    }"""
    level = simt.launch(text, "f", 1, 32, [np.zeros(128, np.float32), np.zeros(32, np.float32)]).level
    assert [level[SECTORS.format(op)] for op in ("ld", "st")] == [PTX, HARDWARE]
    assert level[REQUESTS.format("ld")] == HARDWARE


def code(text):
    made = []
    for number, line in enumerate(text.strip().splitlines()):
        words = line.split()
        predicate = words.pop(0) if words[0].startswith("@") else None
        made.append(SassInstruction(16 * number, predicate, words[0], tuple(" ".join(words[1:]).split(", ")) if words[1:] else (), 7))
    return made


MEETS = """
BSSY B0, 0x40
@P0 BRA 0x40
LDG R1
{}
BSYNC B0
STG R1
EXIT
"""


def test_sides_that_wait_for_each_other_are_together():
    written = {(7, "LDG"): 1, (7, "STG"): 1}
    assert together(code(MEETS.format("NOP")), {7}, written)
    assert together(code(MEETS.format("BREAK B1")), {8}, written), "no lanes went both ways there"
    assert not together(code(MEETS.replace("BSYNC B0", "NOP").format("NOP")), {7}, written)
    assert not together(code(MEETS.replace("BSYNC B0", "BRX R1").format("NOP")), {7}, written), "nobody knows where to"
    assert not together(code(MEETS.format("BRA somewhere")), {7}, written)
    assert not together((), set(), written)


def test_a_barrier_opened_on_one_side_does_not_wait_for_the_other():
    text = """
@P0 BRA 0x40
BSSY B1, 0x30
@P1 BRA 0x30
BSYNC B1
STG R1
EXIT
"""
    assert not together(code(text), {7}, {(7, "STG"): 1})


def test_an_access_that_the_assembler_wrote_twice_is_made_twice():
    text = """
BSSY B0, 0x50
@P0 BRA 0x40
STG R1
BRA 0x50
STG R1
BSYNC B0
EXIT
"""
    assert not together(code(text), {7}, {(7, "STG"): 1})
    assert together(code(text), {7}, {(7, "STG"): 2})


def test_one_store_for_both_sides_is_fewer_than_the_ptx_has():
    text = MEETS.format("NOP").replace("@P0 BRA 0x40", "SEL R1")
    assert together(code(text), {7}, {(7, "LDG"): 1, (7, "STG"): 1})
    assert not together(code(text), {7}, {(7, "LDG"): 1, (6, "STG"): 1, (7, "STG"): 1})


def test_code_too_long_to_follow_is_not_understood():
    text = "\n".join(["@P0 BRA 0x0"] * 1500) + "\nSTG R1\nEXIT"
    assert not together(code(text), {7}, {(7, "STG"): 1})
