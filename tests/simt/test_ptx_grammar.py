"""PTX as its manual allows it, each item in a program of a line or two: what it leaves at [%d8], or that it is refused with its line.
"""

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
