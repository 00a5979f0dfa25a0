"""Instruction forms that compilers write seldom, and forms that PTX does not have (REFUSABLE); continues ptx_forms.py."""

from itertools import product

from ptx_forms import FLOATS, SMALL_FLOATS, collect, each, form
from ptx_forms import FORMS as USUAL

DIRECTED = ("rz", "rm", "rp")
WORDS = ("u32", "s32", "u64", "s64")


def rare_forms():
    """Modifiers that compilers write seldom."""
    for name, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2), ("rcp", 1), ("sqrt", 1)):
        yield from (form(f"{name}.{r}.{t}", t, " ".join([t] * n)) for r, t in (("rz", "f32"), ("rm", "f64"), ("rp", "f32")))
    for t in ("f16x2", "bf16x2"):
        yield from each("add.rn.{t}", (t,), 2)
        yield from each("mul.rn.{t}", (t,), 2)
        yield from each("fma.rn.{t}", (t,), 3)
        yield from each("max.{t}", (t,), 2)
        yield from each("neg.{t}", (t,), 1)
        yield from each("abs.{t}", (t,), 1)
    for t in ("f16", "bf16"):
        yield form(f"fma.rn.relu.{t}", t, f"{t} {t} {t}")
        yield form(f"cvt.rn.relu.{t}.f32", t, "f32")
        yield form(f"cvt.rz.{t}.f32", t, "f32")
    yield from (form(text, "f16", " ".join(["f16"] * n)) for text, n in (
        ("add.rn.ftz.f16", 2), ("add.rn.sat.f16", 2), ("fma.rn.sat.f16", 3), ("max.NaN.f16", 2), ("min.ftz.f16", 2)))
    yield from (form(text, "s32", " ".join(["s32"] * n)) for text, n in (
        ("mad.hi.sat.s32", 3), ("mad24.hi.sat.s32", 3), ("max.relu.s32", 2), ("min.relu.s32", 2)))
    yield from (form(text, "s16x2", "s16x2 s16x2")
        for text in ("add.u16x2", "add.s16x2", "min.s16x2", "max.u16x2", "max.s16x2.relu", "min.relu.s16x2"))
    yield from (form(f"{name}.s32.relu", "s32", "s32 s32") for name in ("min", "max"))
    yield from (form(f"{name}.xorsign.abs.f32", "f32", "f32 f32") for name in ("min", "max"))
    yield from (form(f"{name}{how}.f32", "f32", "f32 f32 f32") for name in ("min", "max") for how in ("", ".NaN", ".ftz"))
    yield from (form(f"{name}{how}.xorsign.abs.{t}", t, f"{t} {t}") for name in ("min", "max") for t in ("f16", "bf16x2")
        for how in ("", ".NaN"))
    yield from (form(f"prmt.b32.{how}", "b32", "b32 b32 b32") for how in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    yield from (form(f"cvt.{r}.{f}.{t}", f, t) for r in ("rz", "rm", "rp") for f in FLOATS for t in ("s32", "u64"))
    yield from (form(f"cvt.{r}.f32.f64", "f32", "f64") for r in ("rz", "rm", "rp"))
    yield from (form(f"cvt.rn.{f}.{t}", f, t) for f in SMALL_FLOATS for t in ("s64", "u64", "u32", "s8"))
    yield form("cvt.rn.sat.f32.s32", "f32", "s32")
    yield form("slct.ftz.b32.f32", "b32", "b32 b32 f32")
    yield from (form(f"set.lt.{d}.f16", d, "f16 f16") for d in ("f16", "u32"))


def directed_forms():
    """Every rounding, with .ftz and .sat."""
    for name, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3), ("div", 2), ("rcp", 1), ("sqrt", 1)):
        yield from (form(f"{name}.{r}.{t}", t, " ".join([t] * n)) for r, t in product(DIRECTED, FLOATS))
        yield from (form(f"{name}.{r}.ftz.f32", "f32", " ".join(["f32"] * n)) for r in DIRECTED)
    for name, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        yield from (form(f"{name}.{r}.{how}.f32", "f32", " ".join(["f32"] * n)) for r in DIRECTED for how in ("sat", "ftz.sat"))


def half_forms():
    for t in ("f16", "f16x2"):
        for name, n in (("add.rn", 2), ("sub.rn", 2), ("mul", 2), ("fma.rn", 3)):
            yield from (form(f"{name}.{how}.{t}", t, " ".join([t] * n)) for how in ("ftz", "sat", "ftz.sat"))
        yield from (form(f"fma.rn.{how}.{t}", t, f"{t} {t} {t}") for how in ("relu", "ftz.relu"))
        yield from (form(f"{name}.ftz.{t}", t, t) for name in ("abs", "neg"))
        yield from (form(f"{name}.ftz.NaN.{t}", t, f"{t} {t}") for name in ("min", "max"))
    for t in ("bf16", "bf16x2"):
        yield form(f"fma.rn.relu.{t}", t, f"{t} {t} {t}")
        yield from (form(f"{name}.{t}", t, f"{t} {t}") for name in ("add", "sub", "mul", "min", "max.NaN"))
    for t, order in product(("f16", "bf16"), ("eq", "gtu", "nan")):
        yield form(f"setp.{order}.{t}x2", "pred pred", f"{t}x2 {t}x2")
        yield form(f"setp.{order}.and.{t}x2", "pred pred", f"{t}x2 {t}x2 pred")
        yield from (form(f"set.{order}.{d}.{t}x2", "b32", f"{t}x2 {t}x2") for d in ("u32", f"{t}x2"))
        yield from (form(f"set.{order}.{d}.{t}", d, f"{t} {t}") for d in ("u16", "u32", t))
    yield from (form(f"setp.{o}.ftz.f16", "pred", "f16 f16") for o in ("eq", "lt"))


def more_conversions():
    yield from (form(f"cvt.{r}.{f}.{t}", f, t) for r in DIRECTED for f in (*FLOATS, *SMALL_FLOATS) for t in ("u8", "s16", *WORDS))
    yield from (form(f"cvt.rn.{f}.{t}", f, t) for f in SMALL_FLOATS for t in ("u16", "s16", *WORDS))
    yield from (form(f"cvt.{r}.{f}.{t}", f, t) for r in ("rn", *DIRECTED) for f in SMALL_FLOATS for t in FLOATS)
    yield from (form(f"cvt.{r}.{a}.{b}", a, b) for r in ("rn", *DIRECTED) for a, b in (("f16", "bf16"), ("bf16", "f16")))
    yield from (form(f"cvt.{r}{how}.f32.f64", "f32", "f64") for r in ("rn", *DIRECTED) for how in (".ftz", ".sat"))
    yield from (form(f"cvt.{how}i.{t}.{f}", t, f) for how in ("rn", "rz", "rm", "rp") for t in ("u8", "s16", "u32", "s64")
        for f in SMALL_FLOATS)
    yield from (form(f"cvt.{how}i.{f}.{f}", f, f) for how in ("rn", "rz", "rm", "rp") for f in SMALL_FLOATS)
    for r, how, t in product(("rn", "rz"), ("", ".relu", ".satfinite", ".relu.satfinite"), SMALL_FLOATS):
        yield form(f"cvt.{r}{how}.{t}.f32", t, "f32")
        yield form(f"cvt.{r}{how}.{t}x2.f32", f"{t}x2", "f32 f32")
    yield from (form(f"cvt.{how}.tf32.f32", "b32", "f32") for how in ("rna", "rna.satfinite", "rn", "rz", "rn.relu", "rz.relu.satfinite"))
    for t, how in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield form(f"cvt.rn.satfinite{how}.{t}.f32", t, "f32 f32")
        yield form(f"cvt.rn.satfinite{how}.{t}.f16x2", t, "f16x2")
        yield form(f"cvt.rn{how}.f16x2.{t}", "f16x2", t)
    yield from (form(f"cvt.pack.sat.{t}.s32", "b32", "s32 s32") for t in ("u16", "s16"))
    yield from (form(f"cvt.pack.sat.{t}.s32.b32", "b32", "s32 s32 b32") for t in ("u2", "s2", "u4", "s4", "u8", "s8"))


def bit_forms():
    yield from (form(f"lop3.{join}.b32",
        "b32 pred", f"b32 b32 b32 ={table} pred", "{d0}|{d1}, {s0}, {s1}, {s2}, TABLE, {s4}".replace("TABLE", str(table)))
                for join in ("or", "and") for table in (0, 0x96, 0xCA))
    yield from (form(f"bmsk.{how}.b32", "b32", "n n") for how in ("clamp", "wrap"))
    yield from (form(f"szext.{how}.{t}", t, f"{t} n") for how in ("clamp", "wrap") for t in ("u32", "s32"))
    yield form("fns.b32", "b32", "b32 n c")
    yield form("fns.b32", "b32", "b32 =5 =-2")
    yield form("fns.b32", "b32", "b32 =7 =0")
    yield from (form(f"dp4a.{a}.{b}", "b32", "b32 b32 b32") for a in ("u32", "s32") for b in ("u32", "s32"))
    yield from (form(f"dp2a.{half}.{a}.{b}", "b32", "b32 b32 b32") for half in ("lo", "hi") for a in ("u32", "s32") for b in ("u32", "s32"))
    yield from each("mad.hi.sat.{t}", ("s32",), 3)


def video_forms():
    for name, n in product(("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"), (2, 4)):
        yield from (form(f"{name}{n}.{types}{how}", "b32", "b32 b32 b32") for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32")
            for how in ("", ".sat", ".add"))
    yield from (form(f"vset{n}.{types}.{order}{how}", "b32", "b32 b32 b32") for n in (2, 4) for types in ("u32.u32", "s32.s32")
        for order in ("eq", "lt", "ge")
                for how in ("", ".add"))


MORE = collect(rare_forms(), directed_forms(), half_forms(), more_conversions(), bit_forms(), video_forms())
FORMS = {name: list(dict.fromkeys([*USUAL.get(name, ()), *MORE.get(name, ())])) for name in {**USUAL, **MORE}}
REFUSABLE = tuple(form(text, kind, " ".join([kind] * n)) for text, kind, n in (
    ("add.relu.s32", "s32", 2), ("add.rz.f16", "f16", 2), ("add.sat.u32", "u32", 2), ("sub.sat.s64", "s64", 2), ("add.rna.f32", "f32", 2),
    ("mul.ftz.f64", "f64", 2), ("fma.f32", "f32", 3), ("fma.rn.sat.f64", "f64", 3), ("mul.oob.f32", "f32", 2),
        ("fma.rn.ftz.bf16", "bf16", 3),
    ("min.relu.u32", "u32", 2), ("max.NaN.s32", "s32", 2), ("prmt.b32.f5e", "b32", 3), ("shr.clamp.u32", "u32", 2),
        ("abs.sat.s32", "s32", 1),
    ("lop3.xor.b32", "b32", 3), ("bmsk.b32", "b32", 2), ("sqrt.sat.f32", "f32", 1), ("ex2.f32", "f32", 1), ("sin.f64", "f64", 1),
    ("cvt.rz.s32.s32", "s32", 1), ("cvt.rn.relu.f32.f32", "f32", 1), ("setp.lt.sat.s32", "s32", 1), ("add.rn.sat.bf16", "bf16", 2)))
