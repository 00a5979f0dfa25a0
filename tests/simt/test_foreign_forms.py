"""What other compilers write and NVRTC does not: braces around one value, registers without a percent sign in inner scopes."""

import numpy as np
import pytest
from launching import fault, launch

from course_lib import simt

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 p)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<9>; " \
       ".reg .b16 %h<4>; .reg .pred %p<4>;\nld.param.u64 %rd1, [p]; mov.u32 %r8, %tid.x; mad.wide.u32 %rd1, %r8, 16, %rd1;\n"
TAIL = "\nret;\n}\n"
KINDS = ("b8 %h1", "u16 %h1", "b32 %r1", "f32 %r1", "s64 %rd2")
HINTS = ("", ".volatile", ".relaxed.gpu")


def given():
    return np.random.default_rng(5).integers(0, 1 << 32, (32, 4), np.uint32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hint", HINTS)
def test_braces_around_the_value_of_a_load_and_a_store_mean_the_value(kind, hint):
    name, register = kind.split()
    for load, store in ((f"{{ {register} }}", register), (register, f"{{{register}}}"), (f"{{{register}}}", f"{{ {register} }}")):
        for mode in ("forward", "interleaved"):          # both generators
            x, y = given(), given()
            braced = f"ld{hint}.global.{name} {load}, [%rd1]; st{hint}.global.{name} [ %rd1 + 8 ], {store};"
            launch(HEAD + braced + TAIL, [x], warp_order=mode)
            launch(f"{HEAD}ld.global.{name} {register}, [%rd1]; st.global.{name} [%rd1+8], {register};{TAIL}", [y], warp_order=mode)
            assert (x == y).all()
            assert (x != given()).any()


def test_so_they_do_around_constants_parameters_and_moved_values_and_under_a_guard():
    x = given()
    launch(f"{HEAD}ld.param.b64 {{%rd2}}, [p]; mov.b32 {{%r1}}, %r8; mov.b32 %r2, {{%r1}}; setp.lt.u32 %p1, %r2, 5; mov.u32 %r3, 0;\n"
           f"@%p1 ld.global.b32 {{ %r3 }}, [%rd1]; @!%p1 st.global.b32 [%rd1+4], {{7}}; st.global.b32 [%rd1+8], {{ %r3 }};{TAIL}", [x])
    lane, old = np.arange(32), given()
    np.testing.assert_array_equal(x[:, 2], np.where(lane < 5, old[:, 0], 0))
    np.testing.assert_array_equal(x[:, 1], np.where(lane < 5, old[:, 1], 7))


@pytest.mark.parametrize("line", [
    "ld.global.v2.b32 {%r1}, [%rd1]", "ld.global.b32 {%r1, %r2}, [%rd1]", "ld.global.b32 {}, [%rd1]", "ld.global.b32 {{%r1}}, [%rd1]",
    "st.global.v2.b32 [%rd1], {%r1}", "st.global.b32 [%rd1], {%r1, %r2}", "add.u32 {%r1}, %r2, %r3", "add.u32 %r1, {%r2}, %r3",
    "atom.global.add.u32 {%r1}, [%rd1], %r2", "atom.global.add.u32 %r1, [%rd1], {%r2}", "red.global.add.u32 [%rd1], {%r2}",
    "shfl.sync.bfly.b32 {%r1}, %r2, 1, 31, -1", "mov.b32 {%h1}, %r2", "ld.global.b32 {5}, [%rd1]", "mov.b32 {7}, %r1"])
def test_elsewhere_and_in_other_numbers_they_are_refused_as_the_assembler_does(line):
    fault(simt.PtxSyntaxError, f"{HEAD}{line};{TAIL}", [given()])


def test_registers_of_an_inner_scope_need_no_percent_sign_and_hide_those_outside():
    x = given()
    launch(f"{HEAD}.reg .b32 t<3>, u;\nmov.b32 t1, 100; mov.b32 u, 5;\n"
           "{ .reg .b32 t<2>, u; .reg .pred q<1>; mov.b32 t0, %r8; mov.b32 t1, 3; mul.lo.u32 u, t0, t1; setp.gt.u32 q0, u, 30;\n"
           "{ .reg .b32 t<12>; mov.b32 t1, 9; add.u32 t11, t1, u; st.global.b32 [%rd1], t11; }\n"
           "@q0 mov.b32 u, 1; add.u32 u, u, t1; st.global.b32 [%rd1+4], u; }\n"
           f"add.u32 t2, t1, u; st.global.b32 [%rd1+8], t2;{TAIL}", [x])
    lane = np.arange(32)
    np.testing.assert_array_equal(x[:, 0], 9 + 3 * lane)
    np.testing.assert_array_equal(x[:, 1], np.where(3 * lane > 30, 1, 3 * lane) + 3)
    np.testing.assert_array_equal(x[:, 2], 105)
