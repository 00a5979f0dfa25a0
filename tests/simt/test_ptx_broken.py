"""Broken PTX: an error that says where, never a crash; and hand-written PTX that must run as the manual says."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from ptx_text import BODY_LINE, bug, entry

from course_lib import kernels, simt, toolchain
from course_lib.simt.codegen.reference import kernel as reference
from course_lib.simt.codegen.uniform.kernel import UniformGenerator
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser

DEFINE = " ".join(f"mov.b32 %r{i}, 1; mov.b64 %d{i}, 64; mov.f32 %f{i}, 0f00000000;" for i in range(9)) + " ".join(
    f"mov.b16 %h{i}, 1; setp.eq.s32 %p{i}, %r1, %r2;" for i in range(4))


def translate(text):
    """Everything that happens to a PTX text before LLVM sees it."""
    program = build_program(parser.parse(text), "k")
    return reference.lower(program), UniformGenerator(program, (32, 1, 1)).text()


SYNTAX = {  # body -> offset of the line that the error names
    "mov.b32 %r1, 018446744073709551616;": 0,
    "mov.b32 %r1, 1": 1, "mov.b32 %r1 1;": 0, "mov.b32 %r1, (;": 0, "mov.b32 %r1, é;": 0, 'mov.b32 %r1, "text";': 0,
    "\n\nld.global.b32 %r1, [%d1;": 2, "ld.global.b32 %r1, [%d1+x];": 0, "mov.b32 %r1, %r2;\n.frob 7;": 1, ".reg .b32 %x<a>;": 0,
    ".local .align 4 name[8];": 0, ".local .frob .b8 name[8];": 0, "\n.shared .b8 name[];\n.shared .b8 name2[4": 3, ".loc 1 x 2": 0,
    "\n/* no end": 1, ".reg .v2 .pred %v;": 0,
}


@pytest.mark.parametrize("body", SYNTAX)
def test_syntax_errors_name_the_line(body):
    with pytest.raises(simt.PtxSyntaxError, match="PTX line") as caught:
        parser.parse(entry(body))
    assert caught.value.line == BODY_LINE + SYNTAX[body]
    assert f"line {caught.value.line}:" in str(caught.value)


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_text_that_ends_too_early(cut):
    text = entry("ld.global.v2.b32 {%r1, %r2}, [%d1+4];\n@%p1 bra END;\nEND:")
    with pytest.raises(simt.SimtError):
        translate(text[:len(text) * cut // 12])


WRONG = {  # body (or, with a dict, module-level text) -> why it is not found today
    "bra NOWHERE;": None, "bra %r1;": None, "L:\nL:": None, "bra;": None, "{ L: bra; }": None, "bra L, L;\nL:": None,
    "brx.idx %r1;": None, "brx.idx %r1, 5;": None, "brx.idx 5, T;\nT: .branchtargets L;\nL:": None,
    "T: .branchtargets NOWHERE;\nbrx.idx %r1, T;": None,
    "mov.b32 %unknown1, 1;": None, "frob.b32 %r1, %r2;": None, "mov.u32 %r1, %envreg3;": None, "ld.param.u64 %d1, [nope];": None,
    "mov.u64 %d1, nope;": None, "call nothing;": None, "bar.sync;": None,
    "add.s32 %r1, %r2;": None, "add %r1, %r2, %r3;": None, "cvt.u32 %r1, %r2;": None, "st.global.b32 %r1, %r2;": None,
    "ld.global.b32 %r1, %d1;": None, "ld.global.b32 5, [%d1];": None, "lop3.b32 %r1, %r2, %r3, %r4, %r5;": None,
    "ld.global.b32 %r1, [%h1];": None, "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d5];": None,
    ".reg .foo %x<4>; mov.b32 %x1, 1;": None, "st.param.u64 [a], %d1;": None, "{" * 3000 + "}" * 3000: None,
    "add.s32 %r1, %r2, %r3, %r4;": None, "add.q32 %r1, %r2, %r3;": None, "add.s32 %r1, %p1, %r2;": None,
    "@%r1 mov.b32 %r2, 1;": None, "setp.eq.s32 %r1, %r2, %r3;": None, "mov.b32 5, %r1;": None,
    "ld.global.b128 %d1, [%d2];": None, "ld.global.v3.b32 {%r1, %r2, %r3}, [%d1];": None,
    "ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];": None, "ld.param.u64 %d1, [a+80];": None, "ld.param.u64 %d1, [a-8];": None,
    "mov.b64 %d1, {%r1, %r2, %r3};": None, "ld.global.b32 %r1, [%p1];": None, "lop3.b32 %r1, %r2, %r3, %r4, 999;": None,
    "add.s32 %r1, %r2, 1.5;": None, "atom.global.add.u99 %r1, [%d1], %r1;": None, "shfl.sync.down.b99 %r1, %r1, 1, 31, -1;": None,
    "call.uni;": None, "call.uni (%r1);": None, "call (%r1), {%r2};": None, "shfl.sync.downb32 %r1, %r1, 1, 31, -1;": None,
    "add.s64 %d1, (a), %d2;": None, "mov.b64 %d1, {a, %r1};": None,
    "bar.sync _;": None, "bar.red.popc.u32 %d1, 0, %p1;": None, "bar.sync 0, 1.5;": None, "bar.warp.sync %d1;": None,
    "nanosleep.u32 _;": None,
    "shfl.sync.down.b32 %r1, %r2, %r3, %r4;": None, "shfl.down.b32 %r1, %r2, %r3, %r4;": None, "match.any.sync.b32 %r1, %r2;": None,
    "match.any.sync.b64 %r1, %r2, -1;": None, "vote.sync.any.pred %r1, %p1, -1;": None, "redux.sync.add.u32 %d1, %r1, -1;": None,
    "atom.global.add.u32 {%r1, %r2}, [%d1], %r1;": None, "atom.global.add.u32 %r1, %d1, %r1;": None,
    "atom.global.cas.b32 %r1, [%d1], %r1;": None,
    "add.s32 %r1, %r2, _;": None, "min.relu.s32 %r1, %r2;": None, "set.eq.and.u32.s32 %r1, %r2, %r3;": None, "add.cc.u32;": None,
    "madc.lo.u32;": None,
    "mov.b32 {}, %r1;": None, "mov.b32 %r1, {};": None, "mov.pred %p1, {1, 2};": None, "cvt.rn.f16x2.f32 %r1, %r2;": None,
    "call %d1, ();": None,
    ".reg .b77 %q; mov.b77 %q, 1;": None, "cvt.u77.u8 %r1, %r1;": None, "red.global.add.f8 [%d1], %r1;": None,
}


@pytest.mark.parametrize("body", [pytest.param(b, marks=[bug(r)] if r else [], id=b[:40]) for b, r in WRONG.items()])
def test_wrong_programs_are_refused(body):
    with pytest.raises(simt.SimtError) as caught:
        translate(entry(f".loc 1 33 1\n{DEFINE}\n{body}"))
    assert caught.value.line in (33, *range(BODY_LINE, BODY_LINE + 5))


MODULE_LEVEL = {
    ".global .b8 x[-4];": None, ".global .align 0 .b8 x[4];": None, ".global .align 3 .b8 x[4];": None,
    ".global .b8 x[99999999999999] = {1};": None, ".global .b8 x[99999999999999];": None, ".global .b8 x[2] = {1, 2, 3};": None,
    ".global .b64 x[1] = {generic(y)};": None, ".global .b8 x[8] = {0xFF(y)};": None, ".global .b8 x[2] = {unknown};": None,
    ".shared .b8 x[99999999];": None, ".global .b77 x;": None, ".global .f8 x[4];": None,
    ".func (.param .b642147483648 r) g() { ret; }": None,
}


@pytest.mark.parametrize("before", [pytest.param(b, marks=[bug(r)] if r else [], id=b[:40]) for b, r in MODULE_LEVEL.items()])
def test_wrong_variables_are_refused(before):
    with pytest.raises(simt.SimtError):
        simt.launch(entry("mov.u64 %d1, x;", before), "k", 1, 1, [np.zeros(1)])


# -- text that is right ------------------------------------------------------------------------------------------------
def run(body, before="", n=4):
    """Run a body that leaves its answers at [%d8], [%d8+4], …; return n words."""
    out = np.zeros(n, np.uint32)
    simt.launch(entry(f"ld.param.u64 %d8, [a];\n{body}", before), "k", 1, 1, [out])
    return out.tolist()


@pytest.mark.parametrize(("body", "expected"), [
    pytest.param("mov.f32 %f1, 1.5; st.global.f32 [%d8], %f1;", 0x3FC00000),
    pytest.param("st.global.f32 [%d8], 1.5;", 0x3FC00000),
    ("st.global.f32 [%d8], 0f3FC00000;", 0x3FC00000), ("st.global.b32 [%d8], -2;", 0xFFFFFFFE),
    ("mov.f64 %d1, 1.5; cvt.rn.f32.f64 %f1, %d1; st.global.f32 [%d8], %f1;", 0x3FC00000),
    ("add.s64 %d1, %d8, 4096; mov.b32 %r1, 7; st.global.b32 [%d1+-4096], %r1;", 7), ("st.global.v2.b32 [%d8], {5, 6};", 5),
    ("mov.b32 %r1, 3; { mov.b32 %r2, 4; { add.s32 %r1, %r1, %r2; } } st.global.b32 [%d8], %r1;", 7),
    pytest.param("mov.b32 %r1, 3; { .reg .b32 %r1; mov.b32 %r1, 4; } st.global.b32 [%d8], %r1;", 3),
    pytest.param("mov.b32 %r1, 3; { .reg .b16 %t; mov.b16 %t, 1; } { .reg .b64 %t; mov.b64 %t, -1; cvt.u32.u64 %r1, %t; } "
                 "st.global.b32 [%d8], %r1;", 0xFFFFFFFF, id="scopes with one name"),
    pytest.param("{ bra L; L: } { mov.b32 %r1, 9; bra L; mov.b32 %r1, 8; L: } st.global.b32 [%d8], %r1;", 9),
    ("mov.b32 %r1, 1; bra.uni L; mov.b32 %r1, 2; L: st.global.b32 [%d8], %r1; exit;", 1),
    ("setp.lt.s32 %p1|%p2, 1, 2; selp.b32 %r1, 5, 6, %p2; st.global.b32 [%d8], %r1;", 6),
    pytest.param("setp.lt.s32 _|%p2, 1, 2; selp.b32 %r1, 5, 6, %p2; st.global.b32 [%d8], %r1;", 6, id="sink"),
    ("mov.b64 %d1, 0x500000007; mov.b64 {%r1, _}, %d1; st.global.b32 [%d8], %r1;", 7),
    ("mov.u64 %d1, %d8; cvta.to.global.u64 %d1, %d1; cvta.global.u64 %d1, %d1; st.b32 [%d1], 3;", 3),
    ("mov.b32 %r1, 7; shl.b32 %r1, %r1, -2; st.global.b32 [%d8], %r1;", 0),
    ("shfl.sync.idx.b32 _|%p1, 5, 0, 31, -1; selp.b32 %r1, 5, 6, %p1; st.global.b32 [%d8], %r1;", 5),
    ("match.any.sync.b32 _, 5, 1; vote.sync.any.pred _, %p1, 1; bar.red.popc.u32 _, 0, %p1; st.global.b32 [%d8], 4;", 4),
    ("atom.global.add.u32 _, [%d8], 6;", 6), ("match.any.sync.b64 %r1, 0x500000007, 1; st.global.b32 [%d8], %r1;", 1),
])
def test_hand_written_text_runs(body, expected):
    assert run(body)[0] == expected


@pytest.mark.parametrize(("before", "expected"), [
    (".const .b32 x[2] = {8, 9};", 8), (".const .align 4 .b8 x[4] = {1, 2, 3, 4};", 0x04030201),
    (".const .f32 x = 0f3F800000;", 0x3F800000),
    pytest.param(".global .b32 x = 7;", 7),
    pytest.param(".const .f32 x[2] = {1.0, 2.0};", 0x3F800000),
])
def test_initial_values_are_read(before, expected):
    space = before.split()[0][1:]
    assert run(f"mov.u64 %d1, x; ld.{space}.b32 %r1, [%d1]; st.global.b32 [%d8], %r1;", before)[0] == expected
    assert run(f"ld.{space}.b32 %r1, [x]; st.global.b32 [%d8], %r1;", before)[0] == expected


def test_pointers_in_initial_values():
    """An initial value may be the address of another variable."""
    before = ".global .b32 y[2] = {1, 42};\n.global .u64 x[1] = {y+4};"
    assert run("ld.global.u64 %d1, [x]; ld.global.b32 %r1, [%d1]; st.global.b32 [%d8], %r1;", before)[0] == 42


def test_registers_that_nobody_wrote():
    """Compilers leave them in (`implicit-def`); any value will do."""
    assert run("mov.b32 %r1, 5; add.s32 %r3, %r2, 1; st.global.b32 [%d8], %r1; st.global.b32 [%d8+4], %r3;")[0] == 5


# -- fuzz ---------------------------------------------------------------------------------------------------------------
def mutations(text, rng):
    """Yield damaged copies of a text without end."""
    words = text.replace(",", " , ").replace(";", " ; ").replace("[", " [ ").split(" ")
    lines = text.splitlines()
    letters = "%$.,;:[]{}()<>@!+-=|0123456789abcdefrsuxL_ \n\"/*"
    while True:
        how = rng.randrange(6)
        at = rng.randrange(len(text))
        if how == 0:
            yield text[:at] + rng.choice(letters) + text[at + 1:]
        elif how == 1:
            yield text[:at] + text[at + rng.randrange(1, 40):]
        elif how == 2:
            yield " ".join([*words[:(k := rng.randrange(len(words)))], rng.choice(words), *words[k + 1:]])
        elif how == 3:
            k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
            yield "\n".join(lines)
            lines[k], lines[j] = lines[j], lines[k]
        elif how == 4:
            yield text[:at] + str(rng.choice((-1, 0, 1 << 31, 1 << 64, 10**30))) + text[at:]
        else:
            yield "\n".join(lines[:(k := rng.randrange(len(lines)))] + lines[k + 1:])


VICTIM = """ld.param.u64 %d1, [a];
@%p1 bra L;
ld.global.v2.b32 {%r1, %r2}, [%d1+8];
setp.lt.and.s32 %p1|%p2, %r1, 5, %p3;
selp.b32 %r3, %r1, %r2, %p1;
L:
st.global.b32 [%d1], %r3;
mov.b64 %d2, {%r1, %r2};
lop3.b32 %r1, %r2, %r3, %r4, 0x96;"""


def victims():
    small = entry(f"{DEFINE}\n{VICTIM}", ".const .align 8 .b8 table[16] = {1, 2, 3};\n.shared .align 4 .b8 tile[64];")
    tiled = toolchain.compile_cuda(kernels.get("sgemm_tiled").source, defines={"BM": 8, "BN": 8, "BK": 8}).ptx
    return small, tiled.replace("sgemm_tiled", "k")


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_damaged_text_gives_typed_errors_only(which):
    rng = random.Random(7)
    wrong = {}
    for _, text in zip(range((600, 80)[which]), mutations(victims()[which], rng)):
        try:
            translate(text)
        except simt.SimtError:
            pass
        except Exception as error:
            wrong.setdefault(f"{type(error).__name__}: {error}"[:100], text)
    assert not wrong, "\n".join(wrong)


FUZZ = """
import random, sys
import numpy as np
from course_lib import simt
from test_ptx_broken import mutations, victims
rng = random.Random(11)
raised = ran = 0
for _, text in zip(range(45), mutations(victims()[0], rng)):
    try:
        simt.launch(text, "k", 2, 40, [np.zeros(64, np.uint32)], max_steps=2000, racecheck=bool(rng.getrandbits(1)))
        ran += 1
    except simt.SimtError:
        raised += 1
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raised += 1  # test_damaged_text_gives_typed_errors_only is about these
print(raised, ran)
"""


@pytest.mark.slow
def test_damaged_kernels_do_not_crash_the_process():
    done = subprocess.run([sys.executable, "-c", FUZZ], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr[-2000:]
    raised, ran = map(int, done.stdout.split())
    assert raised > 10
    assert ran > 5
