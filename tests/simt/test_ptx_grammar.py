"""PTX as its manual allows it, each item in a program of a line or two: what it leaves at [%d8], or that it is refused with its line.
"""

import math
import random

import numpy as np
import pytest
from ptx_programs import FLOATS, FOUR, HEADS, REFUSED, REFUSED_OUTSIDE, RUNS, VALUES
from test_ptx_broken import mutations, translate

from course_lib import simt

HEAD = ".version 8.8\n.target sm_100\n.address_size 64\n"
REGISTERS = (".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<4>; .reg .pred %p<5>;")
LINE = 7                # of the first line of a body
TO_ONE = ".reg .b32 r; .reg .b64 d; ld.param.u64 d, [a]; mov.b32 r, 7; st.global.b32 [d], r; ret; }"     # after a head of a kernel


def kernel(body, before="", after=""):
    return f"{HEAD}{before}\n.visible .entry k(.param .u64 a) {{\n{REGISTERS} ld.param.u64 %d8, [a];\n{body}\nret;\n}}\n{after}"


def run(text, **how):
    out = np.zeros(64, np.uint32)
    simt.launch(text, "k", 1, 1, [out], dynamic_shared=64, **how)
    return int(out[0])


PROGRAMS = [pytest.param(kernel(body, before), value, id=f"{topic}-{i}") for topic, programs in RUNS.items()
            for i, (body, before, value) in enumerate(programs)]


@pytest.mark.slow
@pytest.mark.sampled(test=40)
@pytest.mark.parametrize(("text", "expected"), PROGRAMS)
def test_what_the_manual_allows_runs(text, expected):
    assert run(text) == expected


@pytest.mark.sampled(test=12)
@pytest.mark.parametrize(("text", "expected"), PROGRAMS)
def test_so_it_does_as_any_set_of_lanes(text, expected):
    assert run(text.replace("\n", "\r\n"), warp_order="interleaved") == expected


@pytest.mark.parametrize("head", HEADS)
def test_heads_of_kernels(head):
    assert run(f"{HEAD}{head} {TO_ONE}") == 7


def test_errors_name_parameters_as_the_text_does():
    for name in ("a", "$1", "%p", "_1"):
        text = f"{HEAD}.entry z(.param .u64 {name}) {{ ret; }} .entry k(.param .u64 {name}) {{ .reg .b64 d; ld.param.u64 d, [{name}]; "
        with pytest.raises(simt.OutOfBounds) as caught:
            run(text + "st.global.b32 [d+400], 3; ret; }")
        assert f"writes {name}[100]" in str(caught.value)
        with pytest.raises(simt.PtxSyntaxError, match="outside the parameter") as caught:
            run(text + f"ld.param.u64 d, [{name}+8]; ret; }}")
        assert f"the parameter {name}." in str(caught.value)


def test_errors_name_registers_as_the_text_does():
    with pytest.raises(simt.PtxSyntaxError, match="the register %r1 has 64 bits"):
        run(kernel("{ .reg .b64 %r<3>; mov.b32 %r1, 1; }"))
    with pytest.raises(simt.PtxSyntaxError, match="the register v.y has 32 bits"):
        run(kernel(".reg .v2 .b32 v; mov.b64 v.y, 1;"))


def test_constant_expressions():
    out = np.zeros(len(VALUES), np.int64)
    body = "\n".join(f"st.global.b64 [%d8+{8 * i}], {text};" for i, text in enumerate(VALUES))
    simt.launch(kernel(body), "k", 1, 1, [out])
    assert dict(zip(VALUES, out.tolist())) == VALUES


def test_floating_point_constants():
    out = np.zeros(len(FLOATS), np.uint32)
    body = "\n".join(f"mov.f32 %f1, {text}; st.global.f32 [%d8+{4 * i}], %f1;" for i, text in enumerate(FLOATS))
    simt.launch(kernel(body), "k", 1, 1, [out])
    assert {text: hex(bits) for text, bits in zip(FLOATS, out.tolist())} == {text: hex(bits) for text, bits in FLOATS.items()}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body[:30])
def test_what_it_does_not_allow_is_refused_by_name_and_line(body):
    with pytest.raises((simt.PtxSyntaxError, simt.UnsupportedInstruction)) as caught:
        run(kernel(f"\n{body}", FOUR.replace("\n", " ")))
    assert REFUSED[body] in str(caught.value)
    assert f"PTX line {LINE + 1}" in str(caught.value)
    assert caught.value.line == LINE + 1


@pytest.mark.parametrize("before", REFUSED_OUTSIDE)
def test_declarations_are_refused_by_line(before):
    with pytest.raises((simt.PtxSyntaxError, simt.UnsupportedInstruction)) as caught:
        run(kernel("", before))
    assert REFUSED_OUTSIDE[before] in str(caught.value)
    assert caught.value.line == 4


def lined(text):
    """Translate a text; say whether it is right, or the error names a line or that there is no kernel."""
    try:
        translate(text)
    except simt.LaunchError as error:
        return "No kernel named" in str(error)
    except (simt.PtxSyntaxError, simt.UnsupportedInstruction) as error:
        return error.line > 0
    return True


@pytest.mark.sampled(test=6, slow=80)
@pytest.mark.parametrize(("text", "expected"), PROGRAMS)
def test_damaged_programs_have_typed_errors_with_a_line(text, expected):
    rng = random.Random(text)
    for _, damaged in zip(range(40), mutations(text, rng)):
        assert lined(damaged), damaged


LANES = """.func (.reg .b32 o, .reg .b32 steps) f (.reg .b32 x) {
    .reg .pred p; .reg .b32 t, u, s;
    mov.b32 steps, 1;
    setp.le.s32 p, x, 1; @p mov.b32 o, 1; @p ret;
    sub.s32 t, x, 1;
    call (u, s), f, (t);
    mul.lo.s32 o, u, x; add.s32 steps, s, 1;
}
.visible .entry k(.param .u64 a) {
    .reg .pred odd; .reg .v2 .b32 v; .reg .b32 lane, n; .reg .b64 d, at;
    ld.param.u64 d, [a]; mov.u32 lane, %tid.x; mad.wide.u32 at, lane, 8, d;
    and.b32 n, lane, 1; setp.eq.s32 odd, n, 1;
    and.b32 n, lane, 7; mov.v2.b32 v, {lane, -1};
    @odd call (v.x, v.y), f, (n);
    @!odd mov.v2.b32 v, {v.y, v.x};
    st.global.v2.b32 [at], v;
    ret;
}"""


@pytest.mark.parametrize("how", [{}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"racecheck": True}], ids=str)
def test_registers_as_parameters_where_lanes_diverge(how):
    out = np.zeros((45, 2), np.int32)
    simt.launch(HEAD + LANES, "k", 1, 45, [out], **how)
    expected = [(math.factorial(i % 8), i % 8) if i % 2 else (-1, i) for i in range(45)]
    assert [tuple(row) for row in out.tolist()] == expected
