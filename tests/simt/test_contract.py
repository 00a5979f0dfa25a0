"""Products and sums that name no rounding become one fused multiply-add, as the assembler makes it, whatever registers a loop carries."""

import numpy as np
import pytest

from course_lib import simt

HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .f32 a, .param .f32 b, .param .f32 c)\n{\n"
LOADS = """.reg .f32 %f<9>; .reg .b64 %rd<3>; .reg .pred %p; .reg .b32 %r<3>;
ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b]; ld.param.f32 %f3, [c];
"""
BODIES = {
    "one definition each": "mul.f32 %f4, %f1, %f2; sub.f32 %f5, %f3, %f4;",
    "a factor has two": "mov.f32 %f6, %f3; mov.f32 %f6, %f1; mul.f32 %f4, %f6, %f2; ld.global.f32 %f7, [%rd1]; sub.f32 %f5, %f3, %f4;",
    "a factor is written again before the sum": "mov.f32 %f6, %f1; mul.f32 %f4, %f6, %f2; mov.f32 %f6, %f3; sub.f32 %f5, %f3, %f4;",
    "a label lies between": "mov.f32 %f6, %f3; mov.f32 %f6, %f1; mul.f32 %f4, %f6, %f2; bra L; L: sub.f32 %f5, %f3, %f4;",
}


def launch(body):
    out, (a, b, c) = np.ones(1, np.float32), np.float32([1 + 2.0**-12, 1 + 2.0**-12, 1 + 2.0**-11])
    report = simt.launch(HEAD + LOADS + body + "\nst.global.f32 [%rd1], %f5;\nret;\n}\n", "k", 1, 1, [out, a, b, c])
    return float(out[0]), report.counters


@pytest.mark.parametrize("name", BODIES)
def test_a_product_and_a_difference_are_rounded_once(name):
    found, counters = launch(BODIES[name])
    assert found == -(2.0**-24), "1 + 2**-11 - (1 + 2**-12)**2; rounded twice it is 0"
    assert counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 1
    assert counters["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] == 0


@pytest.mark.parametrize("body", ["mul.rn.f32 %f4, %f1, %f2; sub.f32 %f5, %f3, %f4;", "mul.f32 %f4, %f1, %f2; sub.rn.f32 %f5, %f3, %f4;"])
def test_a_named_rounding_is_kept(body):
    found, counters = launch(body)
    assert found == 0
    assert counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 0
