"""Registers wider than an instruction's type: cvt, ld and st cut a source off and extend a result (PTX ISA, 9.4.1)."""

import numpy as np
import pytest
from test_model import agree

from course_lib import simt

TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
STARTS = ("tid", "steep", "table", "same", "loop")


def bits(kind):
    return int(kind[1:])


def holders(kind):
    """Sizes of the registers that may hold a type: no narrower than it, and there are none of 8 bits."""
    return [n for n in (16, 32, 64) if n >= bits(kind)]


def begin(start):
    """Leave in %x (64 bits) what differs between lanes in one of the ways that uniform code tells apart, all bits in use."""
    far = "add.s64 %x, %x, 0x7fffff80fffffff0;"
    return {"tid": f"cvt.u64.u32 %x, %t; {far}",
            "steep": f"mul.wide.u32 %x, %t, 0x9e3779b1; {far}",
            "table": "mul.wide.u32 %x, %t, 8; add.s64 %x, %x, %in; ld.global.u64 %x, [%x];",
            "same": "ld.global.u64 %x, [%in];",
            "loop": f"cvt.u64.u32 %x, %t; {far}\n"
                    "LOOP: add.s64 %x, %x, 0x8000000180000041; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 3; @%p bra LOOP;",
            }[start]


def kernel(lines, start, addressed=True):
    """A kernel whose `lines` turn %x into 64-bit results %y0 … ; `addressed`: a load that never happens makes them parts of addresses."""
    count = len(lines)
    never = "".join(f"@%never ld.global.u32 %k, [%y{i}];\n" for i in range(count)) if addressed else ""
    stores = "".join(f"st.global.u64 [%out+{8 * 64 * i}], %y{i};\n" for i in range(count))
    return "\n".join([HEAD, ".visible .entry k(.param .u64 in, .param .u64 out) {",
                      f".reg .pred %p, %never; .reg .b16 %h; .reg .b32 %t, %k, %w; .reg .b64 %x, %in, %out, %o, %q, %z, %y<{count}>;",
                      "mov.u32 %t, %tid.x; mov.u32 %k, 0; setp.gt.u32 %never, 0, 1;",
                      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mul.wide.u32 %o, %t, 8; add.s64 %out, %out, %o;",
                      begin(start), *lines, never, stores, "ret; }"])


def held(size):
    """Return (the register of `size` bits that takes x, the text that fills it)."""
    name = {16: "%h", 32: "%w", 64: "%z"}[size]
    return name, f"cvt.u{size}.u64 {name}, %x;" if size < 64 else "mov.b64 %z, %x;"


def widened(name, size, result):
    """Text that makes a 64-bit result of a register of `size` bits."""
    return f"cvt.u64.u{size} {result}, {name};" if size < 64 else f"mov.b64 {result}, {name};"


def conversions(target, source):
    """One line for each pair of registers."""
    pairs = [(a, b) for a in holders(target) for b in holders(source)]
    lines = []
    for i, (to, of) in enumerate(pairs):
        given, fill = held(of)
        result = {16: "%h", 32: "%w", 64: f"%y{i}"}[to]
        end = "" if to == 64 else widened(result, to, f"%y{i}")
        for sat in ("",) if target == source else ("", ".sat"):
            lines.append(f"{fill} cvt{sat}.{target}.{source} {result}, {given}; {end}".replace(f"%y{i}", f"%y{len(lines)}"))
    return lines


def run(lines, start, **how):
    data = np.random.default_rng(5).integers(0, 1 << 64, 64, np.uint64)
    agree(kernel(lines, start, **how), "k", (1, 1, 1), (64, 1, 1), [data, np.zeros(64 * len(lines), np.uint64)])


@pytest.mark.slow
@pytest.mark.sampled(test=8, slow=40)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_cvt(source, target, start):
    run(conversions(target, source), start)


@pytest.mark.sampled(test=10, slow=15)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("kind", TYPES)
def test_loads_and_stores(kind, start):
    lines = []
    for of in holders(kind):
        for to in holders(kind):
            given, fill = held(of)
            loaded = {16: "%h", 32: "%w", 64: f"%y{len(lines)}"}[to]
            end = "" if to == 64 else widened(loaded, to, f"%y{len(lines)}")
            lines.append(f"{fill} st.global.{kind} [%out], {given}; ld.global.{kind} {loaded}, [%out]; {end}")
    run(lines, start)


@pytest.mark.parametrize("text", ["add.s32 %w, %z, 1;", "selp.b32 %w, %z, 1, %p;", "set.lt.u32.s32 %w, %z, 1;", "mov.b32 %w, %z;",
                                  "atom.global.add.u32 %w, [%out], %z;", "cvt.u64.u32 %z, %h;", "st.global.u32 [%out], %h;",
                                  "ld.global.u32 %h, [%out];"])
def test_no_other_operand_is_wider_and_none_is_narrower(text):
    with pytest.raises(simt.PtxSyntaxError):
        run([text + " mov.b64 %y0, %x;"], "tid")


@pytest.mark.slow
def test_a_stride_loop_over_the_grid():
    source = """#include <cooperative_groups.h>
    extern "C" __global__ void f(int* out, int n) {
        auto g = cooperative_groups::this_grid();
        for (int i = g.thread_rank(); i < n; i += g.size()) out[i] = 3 * i;
    }"""
    for order in ("forward", "interleaved"):
        out = np.zeros(300, np.int32)
        simt.launch(source, "f", 2, 64, [out, np.int32(300)], workers=1, warp_order=order)
        assert out.tolist() == [3 * i for i in range(300)]
