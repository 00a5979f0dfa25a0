"""Atomics: every change of every type against the model, in any order of their modifiers, alone and as vectors; and from CUDA C."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from ptx_text import entry
from test_model import agree

from course_lib import simt
from course_lib.simt.isa.warp import in_order
from course_lib.simt.model.types import width

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
RECORDED = Path(__file__).with_name("atomics_on_h100.txt")
SPECIALS = {"f32": (0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000, 0x7F7FFFFF, 1, 0x00800000),
            "f64": (0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001, 0x3FF0000000000000, 1),
            "f16": (0, 0x8000, 0x7C00, 0xFC00, 0x7E01, 0x3C00, 0x7BFF, 1, 0x0400),
            "bf16": (0, 0x8000, 0x7F80, 0xFF80, 0x7FC1, 0x3F80, 0x7F7F, 1, 0x0080)}
SCALARS = [("add", t) for t in ("u32", "s32", "u64", "s64", "f32", "f64")] + \
    [(how, t) for how in ("min", "max") for t in ("u32", "s32", "u64", "s64")] + \
    [(how, t) for how in ("and", "or", "xor") for t in ("b32", "b64")] + [("inc", "u32"), ("dec", "u32")] + \
    [("add.noftz", t) for t in ("f16", "f16x2", "bf16", "bf16x2")]
VECTORS = [("add", n, "f32") for n in (2, 4)] + \
    [(f"{how}.noftz", n, t) for how in ("add", "min", "max") for n in (2, 4, 8) for t in ("f16", "bf16")] + \
    [(f"{how}.noftz", n, t) for how in ("add", "min", "max") for n in (2, 4) for t in ("f16x2", "bf16x2")]
EXCHANGES = [("exch", t) for t in ("b32", "b64", "b128")] + [("cas", t) for t in ("b16", "b32", "b64", "b128")]


def numbers(kind, count, seed):
    """Bits of numbers of a type: special ones, small integers that often collide, and any."""
    rng, stem = np.random.default_rng(seed), kind.removesuffix("x2")
    size = width(stem)
    pool = [*SPECIALS.get(stem, (0, 1, (1 << size) - 1, 1 << size - 1, (1 << size - 1) - 1)), *(int(n) for n in rng.integers(0, 4, 3)),
            *(int.from_bytes(rng.bytes(size // 8), "little") for _ in range(3))]
    drawn = [pool[i] for i in rng.integers(0, len(pool), count * (width(kind) // size))]
    return b"".join(n.to_bytes(size // 8, "little") for n in drawn)


def registers(kind, letter, count):
    return [f"%{letter}{i}" for i in range(count)]


def braces(names):
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def kernel(name, change, kind, count=1, space="global", spread=1, guard=""):
    """Lane l changes element l % spread with its own operands, and stores what it found there."""
    size, sources = width(kind) // 8 * count, 2 if change == "cas" else 1
    t = f"b{width(kind)}"
    groups = [registers(kind, letter, count) for letter in "bc"[:sources]]
    loads = [f"ld.global.{t} {r}, [%s+{g * 32 * size + i * width(kind) // 8}];" for g, names in enumerate(groups)
             for i, r in enumerate(names)]
    found = registers(kind, "d", count)
    if kind == "b128":
        loads = [f"ld.global.v2.b64 {{%x, %y}}, [%s+{g * 32 * size}]; mov.b128 {names[0]}, {{%x, %y}};" for g, names in enumerate(groups)]
        stores = ["mov.b128 {%x, %y}, %d0;", "st.global.v2.b64 [%o], {%x, %y};"]
    else:
        stores = [f"st.global.{t} [%o+{i * width(kind) // 8}], {r};" for i, r in enumerate(found)]
    where = "%m" if space == "global" else "%box"
    result = braces(found) + ", " if name == "atom" else ""
    into, out = ("", "") if space == "global" else (
        "@%first ld.global.v2.u64 {%x, %y}, [%m]; @%first st.shared.v2.u64 [%box], {%x, %y}; bar.sync 0;",
        "bar.sync 0; @%first ld.shared.v2.u64 {%x, %y}, [%box]; @%first st.global.v2.u64 [%m], {%x, %y};")
    place = "" if space == "global" else ".shared .align 16 .b8 box[1024];"
    more = f".reg .{t} {', '.join([*found, *itertools.chain(*groups)])};"
    return "\n".join([
        HEAD, place, ".visible .entry k(.param .u64 memory, .param .u64 in, .param .u64 out) {",
        f".reg .pred %first, %odd; .reg .b32 %t, %e, %box; .reg .b64 %m, %s, %o, %w, %x, %y; {more}",
        "ld.param.u64 %m, [memory]; ld.param.u64 %s, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;",
        f"mad.wide.u32 %s, %t, {size}, %s; mad.wide.u32 %o, %t, {size}, %o; rem.u32 %e, %t, {spread};",
        "setp.lt.u32 %odd, %t, 27; setp.lt.u32 %first, %t, 64;",
        f"mad.wide.u32 %m, %e, {size}, %m;" if space == "global" else "mad.wide.u32 %m, %t, 16, %m;",
        "" if space == "global" else "mov.u32 %box, box; mad.lo.u32 %box, %t, 16, %box;",
        into, *loads, "" if space == "global" else f"mov.u32 %box, box; mad.lo.u32 %box, %e, {size}, %box;",
        f"{guard}{name}.{space}.{change}{f'.v{count}' if count > 1 else ''}.{kind} {result}[{where}], {', '.join(map(braces, groups))};",
        *(stores if name == "atom" else []), "" if space == "global" else "mov.u32 %box, box; mad.lo.u32 %box, %t, 16, %box;", out,
        "ret; }"])


def check(name, change, kind, count=1, **how):
    size = width(kind) // 8 * count
    for seed, spread in enumerate((1, 3, 32)):
        memory = np.frombuffer(numbers(kind, 512 * count, seed)[:512], np.uint8).copy()
        given = np.frombuffer(numbers(kind, 64 * count, 7 + seed), np.uint8).copy()
        if change == "cas":                      # often what is there
            cells = np.resize(memory[:size * spread].reshape(spread, size), (32, size))
            given[:32 * size].reshape(32, size)[::2] = cells[::2]
        agree(kernel(name, change, kind, count, spread=spread, **how), "k", (1, 1, 1), (32, 1, 1),
              [memory, given, np.zeros(32 * size, np.uint8)])


@pytest.mark.slow
@pytest.mark.sampled(test=4, slow=16)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("change", "kind"), SCALARS)
def test_atom_and_red(change, kind, space):
    check("atom", change, kind, space=space)
    check("red", change, kind, space=space, guard="@%odd ")


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("change", "kind"), EXCHANGES)
def test_exchanges(change, kind, space):
    check("atom", change, kind, space=space, guard="@!%odd " if kind == "b32" else "")


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=10)
@pytest.mark.parametrize(("change", "count", "kind"), VECTORS)
def test_vectors(change, count, kind):
    check("atom", change, kind, count)
    check("red", change, kind, count, guard="@%odd ")


# -- on hardware --------------------------------------------------------------------------------------------------------
def measured():
    """Return {(space, form): [(in memory, operand, what is there afterwards)]}, as an H100 answered."""
    found = {}
    for line in RECORDED.read_text().splitlines():
        space, form, *bits = line.split()
        found.setdefault((space, form), []).append([int(b, 16) for b in bits])
    return found


@pytest.mark.parametrize(("space", "form"), sorted(measured()))
def test_special_numbers_become_what_an_h100_makes_of_them(space, form):
    memory, operands, answers = np.array(measured()[space, form], np.uint64).T.copy()
    t, vector = f"b{width(form.rpartition('.')[2])}", ".v2" in form
    place = "%at" if space == "shared" else "%m"
    put = f"st.shared.{t} [%at], %a;" if space == "shared" else ""
    change = f"red.{space}.{form} [{place}], {'{%b, %b}' if vector else '%b'};"
    text = f"""{HEAD}.shared .align 8 .b8 box[8192];
        .visible .entry k(.param .u64 memory, .param .u64 operands) {{
        .reg .b32 %t, %at; .reg .b64 %m, %o; .reg .{t} %a, %b; .reg .pred %p;
        ld.param.u64 %m, [memory]; ld.param.u64 %o, [operands]; mov.u32 %t, %tid.x; mov.u32 %at, box;
        mad.lo.u32 %at, %t, 8, %at; mad.wide.u32 %m, %t, 8, %m; mad.wide.u32 %o, %t, 8, %o;
        ld.global.{t} %a, [%m]; ld.global.{t} %b, [%o]; {put} {change}
        {f'ld.shared.{t} %a, [%at]; st.global.{t} [%m], %a;' if space == 'shared' else ''} ret; }}"""
    simt.launch(text, "k", 1, len(memory), [memory, operands], workers=1)
    assert (memory & np.uint64((1 << int(t[1:])) - 1)).tolist() == answers.tolist()


# -- how they are written -----------------------------------------------------------------------------------------------
def test_modifiers_stand_in_any_order():
    rng = np.random.default_rng(2)
    parts = ["acq_rel", "sys", "global", "add", "u32"]
    orders = list(itertools.permutations(parts))
    for i in rng.choice(len(orders), 12, replace=False):
        memory = np.zeros(2, np.uint32)
        simt.launch(entry(f"ld.param.u64 %d1, [a]; atom.{'.'.join(orders[i])} %r1, [%d1], 3;"), "k", 1, 32, [memory], workers=1)
        assert memory.tolist() == [96, 0]
    assert in_order(["red", "add", "shared::cta", "noftz", "L2::cache_hint", "gpu", "v2", "bf16x2"]) == \
        ("red", "gpu", "shared::cta", "add", "noftz", "L2::cache_hint", "v2", "bf16x2")


@pytest.mark.parametrize("text", [
    "atom.global.min.noftz.f16 %h1, [%d1], %h2;", "atom.global.min.f32 %f1, [%d1], %f2;", "atom.global.add.f16 %h1, [%d1], %h2;",
    "atom.shared.add.v2.f32 {%f1, %f2}, [%r1], {%f1, %f2};",
    "red.acquire.gpu.global.add.u32 [%d1], %r1;", "red.global.exch.b32 [%d1], %r1;",
    "atom.global.exch.b16 %h1, [%d1], %h2;", "atom.global.add.v4.u32 {%r1, %r2, %r3, %r4}, [%d1], {%r1, %r2, %r3, %r4};",
    "atom.gpu.sys.global.add.u32 %r1, [%d1], %r2;", "atom.local.add.u32 %r1, [%d1], %r2;", "atom.global.add.and.b32 %r1, [%d1], %r2;"])
def test_forms_that_do_not_exist(text):
    with pytest.raises(simt.UnsupportedInstruction, match="does not know the form"):
        simt.launch(entry(text), "k", 1, 32, [np.zeros(4, np.uint32)])


@pytest.mark.parametrize("text", [
    "atom.global.add.v4.f32 {%f1, %f2, %f3}, [%d1], {%f1, %f2, %f3, %f4};", "atom.global.add.v2.f32 {%f1, %f2}, [%d1], %f1;",
    "atom.global.add.v2.f32 %f1, [%d1], {%f1, %f2};", "red.global.add.v2.f32 [%d1], {%f1, %f2, %f3, %f4};",
    "atom.global.add.f32 {%f1}, [%d1], {%f1, %f2};", "atom.global.add.noftz.f16 %h1, [%d1], 0x3C00;",
    "atom.global.exch.b128 %q1, [%d1], 5;",
    "atom.global.cas.b16 %r1, [%d1], %h1, %h2;", "red.global.add.v2.f32 {%f1, %f2}, [%d1];", "atom.global.add.v2.f32 {%f1}, [%d1], {%f1};"])
def test_operands_that_do_not_fit(text):
    with pytest.raises(simt.PtxSyntaxError):
        simt.launch(entry(".reg .b128 %q<3>;" + text), "k", 1, 32, [np.zeros(4, np.uint32)])


def test_results_that_nobody_wants_and_literals():
    memory = np.zeros(8, np.float32)
    body = """ld.param.u64 %d1, [a]; mov.f32 %f1, 0f3F800000;
        atom.global.add.v4.f32 {_, _, %f3, _}, [%d1], {%f1, 0f40000000, %f1, 1.5};
        atom.global.add.v2.f32 _, [%d1+16], {%f1, %f1};
        atom.global.cas.b16 %h1, [%d1+24], 0, 0x3F80; red.global.add.f32 [%d1+28], %f3;"""
    simt.launch(entry(body), "k", 1, 2, [memory], workers=1)
    assert memory[:6].tolist() == [2, 4, 2, 3, 2, 2]
    assert (memory.view(np.uint32)[6], memory[7]) == (0x3F80, 1)       # the second lane found the first one's 1


def test_a_vector_must_lie_at_a_multiple_of_its_size():
    with pytest.raises(simt.Misaligned) as caught:
        simt.launch(entry("ld.param.u64 %d1, [a]; red.global.add.v4.f32 [%d1+8], {%f1, %f1, %f1, %f1};"), "k", 1, 1,
                    [np.zeros(16, np.float32)])
    assert caught.value.width == 16


CUDA = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct alignas(16) Pair { unsigned long long low, high; };
extern "C" __global__ void f(int* out, Pair* pair) {
    const int i = threadIdx.x;
    atomicAdd_system(out, 1);
    atomicMax_block(out + 1, i);
    if (atomicCAS_block(out + 2, 0, i + 1) == 0) out[3] = i;
    atomicAdd((float*)out + 4, 1.f);
    atomicAdd((half*)(out + 5), __float2half(1.f));
    atomicAdd((half2*)(out + 6), __floats2half2_rn(1.f, 2.f));
    atomicAdd((__nv_bfloat16*)(out + 7), __float2bfloat16(1.f));
    atomicAdd((__nv_bfloat162*)(out + 8), __floats2bfloat162_rn(1.f, 2.f));
    unsigned short* narrow = (unsigned short*)(out + 9) + 1;
    while (atomicCAS(narrow, (unsigned short)i, (unsigned short)(i + 1)) != i) { }
    float2 two = atomicAdd((float2*)(out + 10), make_float2(1, 2));
    float4 four = atomicAdd((float4*)(out + 12), make_float4(1, 2, 3, 4));
    out[16 + i] = two.y + 100 * four.w;
    atomicCAS(pair, Pair{5, (unsigned long long)i}, Pair{5, i + 1ull});
    atomicExch(pair + 1, Pair{1, (unsigned long long)i});
}"""


@pytest.mark.parametrize("order", ["forward", "reverse", "interleaved"])
def test_from_cuda(order):
    out, pair = np.zeros(48, np.int32), np.array([5, 0, 0, 0], np.uint64)
    simt.launch(CUDA, "f", 1, 32, [out, pair], workers=1, warp_order=order)
    halves, brains = out.view(np.float16), out.view(np.uint16)
    assert out[:5].tolist() == [32, 31, 1, 0, np.float32(32).view(np.int32)]
    assert halves[10:14].tolist() == [32, 0, 32, 64]
    assert brains[14:18].tolist() == [0x4200, 0, 0x4200, 0x4280]
    assert brains[18:20].tolist() == [0, 32]
    assert out[10:16].view(np.float32).tolist() == [32, 64, 32, 64, 96, 128]
    assert out[16:].tolist() == [2 * i + 400 * i for i in range(32)]
    assert pair.tolist() == [5, 32, 1, 31]
