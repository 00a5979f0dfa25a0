"""Every opcode that the simulator knows, in every form that compilers write, against a model in plain Python."""

import math

import numpy as np
import ptx_kernel
import pytest
from ptx_forms import BITS, FLOATS, INTS, LITERALS, form, known_bug
from ptx_forms_more import FORMS, REFUSABLE
from ptx_operands import operands

from course_lib import simt
from course_lib.simt.codegen.reference import kernel as reference
from course_lib.simt.isa import hints, operations
from course_lib.simt.model import softfloat as sf
from course_lib.simt.model.arithmetic import evaluate
from course_lib.simt.model.softfloat import NAN
from course_lib.simt.model.types import Halves, width
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser

THREADS = 300
TOGETHER = 24  # forms in a kernel


def agrees(kind, expected, got):
    """Does a result match what the model allows?"""
    got &= (1 << width(kind)) - 1
    if isinstance(expected, Halves):
        n = width(kind) // 2
        return all(agrees(kind[:-2] if kind.endswith("16x2") else f"b{n}", e, got >> s) for e, s in zip(expected.halves, (0, n)))
    if expected == NAN:
        return sf.is_nan(kind, got)
    return got in expected if isinstance(expected, frozenset) else got == expected


def wanted(form, given):
    """Return the model's results for one thread."""
    given = [1 - v if kind == "npred" else v for kind, v in zip(form.src, given)]
    found = evaluate(form.text, given)
    if form.text.startswith("mov.") and len(form.dst) > 1:           # a register is unpacked into several
        bits = width(form.dst[0])
        return tuple(found[0] >> bits * i & (1 << bits) - 1 for i in range(len(form.dst)))
    return found


def mismatch(form, table, found, guard=None):
    """Return a line about the first operands for which a form's results (a row each) are wrong, or None."""
    known = {}
    for thread, given in enumerate(table):
        expected = known.get(given) or known.setdefault(given, wanted(form, given))
        for kind, value, row in zip(form.dst, expected, found):
            if guard is not None and not guard[thread]:
                value = 1 if kind == "pred" else ptx_kernel.PRESET & (1 << width(kind)) - 1
            got = int(row[thread])
            if not agrees(kind, value, got):
                value = hex(value) if isinstance(value, int) else value
                return f"{form.text} {[hex(v) for v in given]} -> {got:#x}, expected {value}"
    return None


def agree(forms, rows, found, guard=None):
    """Compare the results of a kernel with the model's."""
    found = iter(found)
    lines = [mismatch(f, table, [next(found) for _ in f.dst], guard) for f, table in zip(forms, rows)]
    wrong = [line for line in lines if line]
    assert not wrong, f"{len(wrong)} of {len(forms)} forms are wrong\n" + "\n".join(wrong)


def check(forms, rows, guard=None, **how):
    """Run forms, a moderate number in a kernel, and compare with the model."""
    for first in range(0, len(forms), TOGETHER):
        part = slice(first, first + TOGETHER)
        found = ptx_kernel.run(forms[part], rows[part], guard=guard, **how)
        agree(forms[part], rows[part], found, guard)
        masked = ptx_kernel.run(forms[part], rows[part], guard=guard, racecheck=True, **how)
        for kind, a, b in zip((k for f in forms[part] for k in f.dst), found, masked):
            differ = [(int(x), int(y)) for x, y in zip(a[a != b], b[a != b])]
            assert all(kind in sf.FORMATS and sf.is_nan(kind, x) and sf.is_nan(kind, y) for x, y in differ), \
                "code for all lanes and code for any lanes differ"


def good(name, at_most=1000):
    """Return forms of an opcode that are not known to be wrong, evenly chosen when there are more than `at_most`."""
    forms = [f for f in FORMS[name] if not known_bug(f)]
    return forms[::-(-len(forms) // at_most)]


def test_every_opcode_has_forms():
    inner = {name for name in operations.OPS if "." in name}  # the simulator's own names for forms with more operands
    known = set(operations.OPS) - inner | {"madc"}
    special = {"addc", "subc", "madc", "cvta", "createpolicy", "isspacep", "mapa", "getctarank", *hints.NOTHING}
    assert set(FORMS) | set(APPROXIMATE) | special == known


@pytest.mark.slow
@pytest.mark.sampled(test=4, slow=6)
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "cvt" else n for n in sorted(FORMS)])
def test_each_lane_has_its_own_operands(name):
    forms = good(name)
    check(forms, [operands(f, THREADS) for f in forms])


@pytest.mark.sampled(test=4, slow=20)
@pytest.mark.parametrize("name", sorted(FORMS))
def test_all_lanes_have_the_same_operands(name):
    """Operands from parameters, which uniform code may hold as scalars."""
    forms = good(name, 60)
    for starts in zip(*(operands(f, 10, seed=2) for f in forms)):
        agree(forms, [[s] * 64 for s in starts], ptx_kernel.run_uniform(forms, starts, "param"))


COUNTING = ("add", "sub", "mul", "mad", "neg", "abs", "shl", "shr", "and", "or", "not", "cvt", "min", "max", "setp", "mov", "bfe", "lop3",
            "div", "rem", "shf", "sad", "mul24", "slct")


def index_forms(name):
    """Return forms of an opcode whose sources are integers, literals among them."""
    return [f for f in good(name) if all(k in (*INTS, *BITS, "n", "c") or k[0] == "=" for k in f.src) and f.dst[0] not in FLOATS][:40]


@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("name", COUNTING)
def test_operands_count_up_with_the_lane(name):
    """Indices, which uniform code may hold as a base and a step; the bases make them overflow somewhere in the warp."""
    for turn in (0, 2):  # which sources are the same for all lanes
        forms = index_forms(name) + [f for f in LITERALS if f.name == name and f.dst[0] not in FLOATS and turn == 0]
        for seed in range(4):
            starts = [operands(f, 4, seed=6 + turn)[seed] for f in forms]
            agree(forms, ptx_kernel.counted(forms, starts, turn=turn), ptx_kernel.run_uniform(forms, starts, "count", turn=turn))


@pytest.mark.sampled(test=6, slow=6)
@pytest.mark.parametrize("name", COUNTING)
def test_operands_known_before_the_launch(name):
    """Thread indices and literals alone, which a translator may compute beforehand."""
    forms, copies = index_forms(name), 1 if name in ("cvt", "setp") else 2
    starts = [operands(f, copies, seed=7)[copy] for copy in range(copies) for f in forms]
    forms *= copies
    starts = [tuple(v % 50 if k in ("n", "c") else v for k, v in zip(f.src, start)) for f, start in zip(forms, starts)]
    for first in range(0, len(forms), TOGETHER):
        part = slice(first, first + TOGETHER)
        rows = ptx_kernel.counted(forms[part], starts[part], 32)
        agree(forms[part], rows, ptx_kernel.run_uniform(forms[part], starts[part], starts[part], 32))


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["some lanes", "no lane", "all lanes"])
def test_guarded_instructions_leave_other_lanes_alone(mask):
    forms = [f for name in sorted(FORMS) for f in good(name, 2)]
    lanes = np.arange(128)
    guard = {"some lanes": lanes % 3 == 1, "no lane": lanes < 0, "all lanes": lanes >= 0}[mask]
    check(forms, [operands(f, 128, seed=3) for f in forms], guard=guard, block=64)


@pytest.mark.slow
def test_literal_operands():
    check(LITERALS, [operands(f, 128, seed=4) for f in LITERALS])


def test_known_bugs_are_still_there():
    """A form that has been repaired must leave KNOWN_BUGS, so that it is tested."""
    for f in (f for name in FORMS for f in FORMS[name] if known_bug(f)):
        with pytest.raises((AssertionError, RuntimeError)):
            check([f], [operands(f, THREADS)])


def refusal(rule):
    """Return the UnsupportedInstruction that a form is refused with, or None."""
    try:
        reference.lower(build_program(parser.parse(ptx_kernel.kernel_text([rule], 32)), "k"))
    except simt.UnsupportedInstruction as refused:
        return refused
    return None


def test_forms_that_ptx_does_not_have_are_refused():
    """A modifier may be unknown to the simulator, but must never be ignored."""
    for f in REFUSABLE:
        error = refusal(f)
        assert error, f.text
        assert (error.opcode, f.text in str(error)) == (f.text, True)


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_half_that_is_not_a_number_is_the_canonical_one(kind):
    nan = sf.FORMATS[kind].infinity + 1
    texts = [f"{n}.{kind}"
        for n in ("add", "mul", "sub", "min", "max.NaN")] + [f"fma.rn.{kind}", f"fma.rn.relu.{kind}", f"cvt.rn.{kind}.f32"]
    rows = []
    for text in texts:
        source = "f32" if "cvt" in text else kind
        rows.append(form(text, kind, " ".join([source] * (3 if "fma" in text else 1 if "cvt" in text else 2))))
    found = ptx_kernel.run(rows, [[tuple((0xFFC00001 if k == "f32" else nan + sign) for k in f.src) for sign in (0, 0x8000)] for f in rows])
    assert {int(v) & 0xFFFF for v in found.ravel()} == {0x7FFF}


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_fused_product_is_rounded_once(kind):
    """Sums a hair beside the middle of two neighbours: rounding to single precision first would put them there."""
    fraction = sf.FORMATS[kind].fraction
    one, rule = sf.from_integer(kind, 1), form(f"fma.rn.{kind}", kind, f"{kind} {kind} {kind}")
    rows = []
    for k in range(1, fraction + 1):
        a, b = one + (1 << fraction - k), sf.pack(kind, (0, (1 << k) - 1, -k - fraction - 1))  # (1 + 2^-k) (1 - 2^-k) 2^-(fraction+1)
        rows += [(a, b ^ sign, c) for c in (one, one + 1, one + 2, one + 3) for sign in (0, sf.negate(kind, 0))]
    check([rule], [rows])


# -- wide registers -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bits", [32, 64])
def test_results_and_sources_in_wider_registers(bits):
    """`cvt` reads the low bits of a wider register and extends its result to one, by the sign of its type."""
    types = [t for t in ("u8", "s8", "u16", "s16", "u32", "s32") if width(t) < bits]
    forms = [form(f"cvt.{a}.{b}", f"b{bits}", f"b{bits}") for a in types for b in types if a != b]
    rows = [operands(f, 100) for f in forms]
    found = ptx_kernel.run(forms, rows)
    for f, table, row in zip(forms, rows, found):
        target, source = f.text.split(".")[1:]
        for given, got in zip(table, row):
            value = evaluate(f.text, [given[0] & (1 << width(source)) - 1])[0]
            if target[0] == "s" and value >> width(target) - 1:
                value |= (1 << bits) - (1 << width(target))
            assert int(got) == value, f"{f.text} of {given[0]:#x} in {bits} bits"


# -- approximations -----------------------------------------------------------------------------------------------------
def near(rel, absolute=0.0):
    return lambda x, y: math.isclose(x, y, rel_tol=rel, abs_tol=absolute)


APPROXIMATE = {  # opcode -> (function, allowed difference by the manual, operands between)
    "rcp": ("rcp.approx.ftz.f32", lambda x: 1 / x, near(2**-23), (0, 1e30)),
    "sqrt": ("sqrt.approx.f32", math.sqrt, near(2**-22), (0, 1e30)),
    "rsqrt": ("rsqrt.approx.f32", lambda x: x**-0.5, near(2**-22), (1e-30, 1e30)),
    "sin": ("sin.approx.f32", math.sin, near(0, 2**-20.5), (-3.1, 3.1)),
    "cos": ("cos.approx.f32", math.cos, near(0, 2**-20.5), (-3.1, 3.1)),
    "lg2": ("lg2.approx.f32", math.log2, near(2**-22, 2**-22), (1e-30, 1e30)),
    "ex2": ("ex2.approx.f32", lambda x: 2.0**x, near(2**-21), (-120, 120)),
    "tanh": ("tanh.approx.f32", math.tanh, near(2**-10), (-10, 10)),
    "div": ("div.approx.f32", lambda x: 3 / x, near(2**-21), (0, 1e30)),
}
INF, NAN_ = math.inf, math.nan
EDGES = {  # (operand, result) at the edges of the domain
    "rcp": ((0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0)), "div": ((0.0, INF), (-0.0, -INF), (INF, 0.0)),
    "sqrt": ((-1.0, NAN_), (-0.0, -0.0), (INF, INF)), "rsqrt": ((-1.0, NAN_), (0.0, INF), (-0.0, -INF), (INF, 0.0)),
    "sin": ((0.0, 0.0), (-0.0, -0.0), (INF, NAN_)), "cos": ((0.0, 1.0), (-INF, NAN_)),
    "lg2": ((0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN_), (INF, INF)),
    "ex2": ((-INF, 0.0), (INF, INF), (0.0, 1.0), (200.0, INF), (-200.0, 0.0), (3.0, 8.0)),
    "tanh": ((INF, 1.0), (-INF, -1.0), (0.0, 0.0)),
}


def approximate(name, values):
    """Run the approximate form of an opcode; float32 in, float64 out."""
    rule = form(APPROXIMATE[name][0], "f32", "f32", "{d0}, 0f40400000, {s0}" if name == "div" else None)
    rows = [[(int(b),) for b in np.array(values, np.float32).view(np.uint32)]]
    return ptx_kernel.run([rule], rows)[0].astype(np.uint32).view(np.float32).astype(float)


@pytest.mark.parametrize("name", sorted(APPROXIMATE))
def test_approximations_are_as_close_as_the_manual_says(name):
    _, exact, close, (low, high) = APPROXIMATE[name]
    rng = np.random.default_rng(5)
    values = (low + (high - low) * rng.random(500)) * 10.0 ** rng.uniform(-6, 0, 500)
    values = values[values > low].astype(np.float32)
    for x, got in zip(values.astype(float), approximate(name, values)):
        assert close(exact(x), got), (name, x, got)


@pytest.mark.parametrize("name", sorted(EDGES))
def test_approximations_at_the_edges(name):
    edges = (*EDGES[name], (NAN_, NAN_))
    for (x, expected), got in zip(edges, approximate(name, [x for x, _ in edges])):
        same = got == expected and math.copysign(1, got) == math.copysign(1, expected)
        assert same or math.isnan(got) and math.isnan(expected), (name, x, got)
