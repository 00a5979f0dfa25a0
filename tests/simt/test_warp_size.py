"""WARP_SZ, the constant that PTX itself defines and compilers write for `warpSize`, wherever a number may stand."""

import numpy as np
import pytest
from ptx_text import HEAD, entry

from course_lib import simt
from course_lib.simt.ptx import parser
from course_lib.simt.ptx.ir import Imm, Mem, Reg, Sym, Vec


@pytest.mark.parametrize(("text", "operand"), [
    ("mov.u32 %r1, WARP_SZ;", Imm(32)), ("add.s32 %r1, %r2, -WARP_SZ;", Imm(-32)),
    ("mov.b64 %d1, {%r1, WARP_SZ};", Vec((Reg("%r1"), Imm(32)))),
    ("ld.global.u32 %r1, [%d1+WARP_SZ];", Mem(Reg("%d1"), 32)), ("ld.global.u32 %r1, [name-WARP_SZ];", Mem(Sym("name"), -32)),
    ("ld.shared.u32 %r1, [WARP_SZ];", Mem(None, 32)), ("mov.u64 %d1, name+WARP_SZ;", Sym("name", 32)),
    ("shfl.sync.idx.b32 %r1, %r2, 0, 31, WARP_SZ;", Imm(32)), ("bar.sync 1, WARP_SZ;", Imm(32)),
])
def test_where_a_literal_may_stand(text, operand):
    assert parser.parse(entry(text)).functions["k"].body[0].operands[-1] == operand


def test_sizes_and_initial_values():
    found = parser.parse(HEAD + ".global .u32 a[WARP_SZ] = {WARP_SZ, -WARP_SZ};\n.shared .align WARP_SZ .b8 b[2][WARP_SZ];").variables
    assert (found["a"].nbytes, found["a"].init[:8]) == (128, np.array([32, -32], np.int32).tobytes())
    assert (found["b"].nbytes, found["b"].align) == (64, 32)


@pytest.mark.parametrize("order", ["forward", "interleaved"])
def test_in_cuda(order):
    source = """extern "C" __global__ void f(int* out, int n) {
        __shared__ int box[64];
        const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
        box[threadIdx.x] = n * warpSize + lane;
        __syncthreads();
        for (int i = lane; i < 2 * warpSize; i += warpSize) out[warp * 2 * warpSize + i] = box[(i + warpSize) % (2 * warpSize)] - warp;
    }"""
    out = np.zeros(128, np.int32)
    simt.launch(source, "f", 1, 64, [out, np.int32(7)], workers=1, warp_order=order)
    assert out.tolist() == [7 * 32 + i % 32 - warp for warp in (0, 1) for i in range(64)]
