"""The instruction forms that test_ops.py runs.

All must run and be right; `ptx_forms_more.py` has those that compilers write seldom.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product

from course_lib.simt.model.types import width

INTS = ("u16", "u32", "u64", "s16", "s32", "s64")
FLOATS = ("f32", "f64")
SMALL_FLOATS = ("f16", "bf16")
BITS = ("b16", "b32", "b64")
ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")
UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
JOINS = ("and", "or", "xor")


@dataclass(frozen=True)
class Form:
    """One opcode with the kinds of its destinations and sources.

    Kinds are PTX types, or `n` for a shift amount, `c` for a position or length in bits, `=7` for a literal, `npred`
    for a predicate that is read with `!`.
    `operands` is the text of the operands with {d0}, {s0}, … for registers.
    """

    text: str
    dst: tuple
    src: tuple
    operands: str

    @property
    def name(self):
        return self.text.partition(".")[0]


def form(text, dst, src, operands=None):
    dst, src = tuple(dst.split()), tuple(src.split())
    if operands is None:
        first = "|".join(f"{{d{i}}}" for i in range(len(dst)))
        operands = ", ".join([first] + [source_text(i, kind) for i, kind in enumerate(src)])
    return Form(text, dst, src, operands)


def source_text(i, kind):
    return kind[1:] if kind[0] == "=" else f"!{{s{i}}}" if kind == "npred" else f"{{s{i}}}"


def each(pattern, kinds, n, dst="{t}"):
    """One form for each kind: `n` sources of that kind."""
    return [form(pattern.format(t=t), dst.format(t=t), " ".join([t] * n)) for t in kinds]


def wider(kind):
    return f"{kind[0]}{2 * width(kind)}"


def integer_forms():
    for name, n in (("add", 2), ("sub", 2), ("div", 2), ("rem", 2), ("min", 2), ("max", 2), ("sad", 3)):
        yield from each(f"{name}.{{t}}", INTS, n)
    for name, n in (("mul", 2), ("mad", 3)):
        yield from each(f"{name}.lo.{{t}}", INTS, n)
        yield from each(f"{name}.hi.{{t}}", INTS, n)
        for t in ("u16", "u32", "s16", "s32"):
            yield form(f"{name}.wide.{t}", wider(t), " ".join([t, t, wider(t)][:n]))
    for name, n in (("mul24", 2), ("mad24", 3)):
        for part in ("lo", "hi"):
            yield from each(f"{name}.{part}.{{t}}", ("u32", "s32"), n)
    yield from (form(f"{name}.sat.s32", "s32", "s32 s32") for name in ("add", "sub"))
    yield from (f for name in ("abs", "neg") for f in each(f"{name}.{{t}}", ("s16", "s32", "s64"), 1))


def bit_forms():
    yield from (f for name in ("and", "or", "xor") for f in each(f"{name}.{{t}}", (*BITS, "pred"), 2))
    yield from each("not.{t}", (*BITS, "pred"), 1)
    yield from each("cnot.{t}", BITS, 1)
    yield from (form(f"shl.{t}", t, f"{t} n") for t in BITS)
    yield from (form(f"shr.{t}", t, f"{t} n") for t in (*BITS, *INTS))
    yield from (form(f"shf.{side}.{how}.b32", "b32", "b32 b32 n") for side in "lr" for how in ("wrap", "clamp"))
    yield from (form("lop3.b32", "b32", f"b32 b32 b32 ={table}") for table in (0, 0xCA, 0x96, 0x1D, 0xE8, 0x80, 0xFF))
    yield from (form(f"{name}.{t}", "u32", t) for name in ("popc", "clz") for t in ("b32", "b64"))
    yield from (form(f"bfind{how}.{t}", "u32", t) for how in ("", ".shiftamt") for t in ("u32", "s32", "u64", "s64"))
    yield from each("brev.{t}", ("b32", "b64"), 1)
    yield from (form(f"bfe.{t}", t, f"{t} c c") for t in ("u32", "s32", "u64", "s64"))
    yield from (form(f"bfi.{t}", t, f"{t} {t} c c") for t in ("b32", "b64"))
    yield form("prmt.b32", "b32", "b32 b32 b32")


def image_forms():
    """Textures and surfaces, by name: test_images.py writes a kernel around each, for its operands are no registers alone."""
    for what in ("f32", "s32", "u32"):
        for n in (1, 2):
            yield from (f"tex.{n}d.v4.{what}.f32", f"tex.{n}d.v4.{what}.s32", f"tex.level.{n}d.v4.{what}.f32")
        yield from (f"tld4.{channel}.2d.v4.{what}.f32" for channel in "rgba")
    data = [f"{many}{kind}" for kind in ("b8", "b16", "b32", "b64") for many in ("", "v2.", "v4.") if (many, kind) != ("v4.", "b64")]
    yield from (f"{name}.b.{n}d.{d}.{how}" for name, n, d, how in product(("suld", "sust"), (1, 2), data, ("trap", "clamp", "zero")))


def choice_forms():
    for t in (*INTS, *BITS):
        orders = ORDERS[:2] if t[0] == "b" else ORDERS + (("lo", "ls", "hi", "hs") if t[0] == "u" else ())
        yield from (form(f"setp.{o}.{t}", "pred pred", f"{t} {t}") for o in orders)
    for t in FLOATS:
        yield from (form(f"setp.{o}.{t}", "pred pred", f"{t} {t}") for o in ORDERS + UNORDERED)
    yield from (form(f"setp.{o}.ftz.f32", "pred", "f32 f32") for o in ("eq", "lt", "geu"))
    yield from (form(f"setp.{o}.{t}", "pred", f"{t} {t}") for o in ("lt", "neu") for t in SMALL_FLOATS)
    for join, t in product(JOINS, ("s32", "f32")):
        yield form(f"setp.lt.{join}.{t}", "pred pred", f"{t} {t} pred")
        yield form(f"setp.ge.{join}.{t}", "pred", f"{t} {t} npred")
        yield form(f"set.gt.{join}.u32.{t}", "u32", f"{t} {t} pred")
    yield from (form(f"set.le.{d}.{t}", d, f"{t} {t}") for d in ("u32", "s32", "f32") for t in ("s32", "u64", "f32", "f64"))
    yield from (form(f"selp.{t}", t, f"{t} {t} pred") for t in (*BITS, "s32", "u64", *FLOATS))
    yield from (form(f"slct.{t}.s32", t, f"{t} {t} s32") for t in ("b16", "u32", "s64", "f32", "f64"))
    yield from (form(f"slct.{t}.f32", t, f"{t} {t} f32") for t in ("b32", "u64"))
    yield from (form(f"testp.{how}.{t}", "pred", t) for t in FLOATS
                for how in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"))


def float_forms():
    for name in ("add", "sub", "mul"):
        yield from each(f"{name}.{{t}}", FLOATS, 2)
        yield from each(f"{name}.rn.{{t}}", FLOATS + SMALL_FLOATS, 2)
        yield from (form(f"{name}.{how}.f32", "f32", "f32 f32") for how in ("ftz", "sat", "rn.ftz.sat"))
    yield from each("fma.rn.{t}", FLOATS + SMALL_FLOATS, 3)
    yield from each("mad.rn.{t}", FLOATS, 3)
    yield from (form(f"fma.rn.{how}.f32", "f32", "f32 f32 f32") for how in ("ftz", "sat", "ftz.sat"))
    yield from each("div.rn.{t}", FLOATS, 2)
    yield form("div.rn.ftz.f32", "f32", "f32 f32")
    for name in ("rcp", "sqrt"):
        yield from each(f"{name}.rn.{{t}}", FLOATS, 1)
        yield form(f"{name}.rn.ftz.f32", "f32", "f32")
    for name in ("min", "max"):
        yield from each(f"{name}.{{t}}", FLOATS + SMALL_FLOATS, 2)
        yield from (form(f"{name}.{how}.f32", "f32", "f32 f32") for how in ("ftz", "NaN", "ftz.NaN"))
    for name in ("abs", "neg"):
        yield from each(f"{name}.{{t}}", FLOATS + SMALL_FLOATS, 1)
        yield form(f"{name}.ftz.f32", "f32", "f32")
    yield from each("copysign.{t}", FLOATS, 2)


def move_forms():
    yield from each("mov.{t}", ("pred", *BITS, *INTS, *FLOATS), 1)
    yield from (form(f"mov.{t}", t, f"{part} {part}", "{d0}, {{{s0}, {s1}}}") for t, part in (("b32", "b16"), ("b64", "b32")))
    yield form("mov.b64", "b64", "b16 b16 b16 b16", "{d0}, {{{s0}, {s1}, {s2}, {s3}}}")
    yield form("mov.b64", "b16 b16 b16 b16", "b64", "{{{d0}, {d1}, {d2}, {d3}}}, {s0}")


def convert_forms():
    types = ("u8", "s8", *INTS)
    yield from (form(f"cvt.{a}.{b}", a, b) for a in types for b in types if a != b)
    yield from (form(f"cvt.sat.{a}.{b}", a, b) for a in types for b in types if a != b)
    yield from (form(f"cvt.rn.{f}.{t}", f, t) for f in FLOATS for t in types)
    yield from (form(f"cvt.{how}.{t}.{f}", t, f) for f in FLOATS for t in types for how in ("rni", "rzi", "rmi", "rpi"))
    yield from (form(f"cvt.{how}.ftz.{t}.f32", t, "f32") for t in ("s32", "u64") for how in ("rzi", "rpi"))
    yield from (form(f"cvt.{how}.{f}.{f}", f, f) for f in FLOATS for how in ("rni", "rzi", "rmi", "rpi"))
    yield from (form(f"cvt{how}.f64.{f}", "f64", f) for f in ("f32", "f16") for how in ("", ".sat"))
    yield from (form(f"cvt.{how}.f32.f64", "f32", "f64") for how in ("rn", "rn.ftz", "rn.sat"))
    yield from (form(text, *text.split(".")[-2:]) for text in (
        "cvt.f32.f16", "cvt.f32.bf16", "cvt.rn.f16.f32", "cvt.rn.bf16.f32", "cvt.rn.f16.f64", "cvt.ftz.f32.f16",
        "cvt.rn.ftz.f16.f32", "cvt.rn.sat.f16.f32", "cvt.sat.f32.f32", "cvt.ftz.f32.f32", "cvt.rni.ftz.f32.f32",
        "cvt.rni.f16.f16", "cvt.rzi.s32.f16", "cvt.rni.u16.f16", "cvt.rzi.s64.f16", "cvt.rn.f16.s32", "cvt.rn.f16.u16",
        "cvt.rn.bf16.s32", "cvt.rzi.s32.bf16"))


def collect(*sources):
    found = {}
    for f in (f for source in sources for f in source):
        found.setdefault(f.name, []).append(f)
    return found


FORMS = collect(integer_forms(), bit_forms(), choice_forms(), float_forms(), move_forms(), convert_forms())


def literal_forms():
    """A literal as the last, and where it matters as the first source."""
    for t in ("u32", "s32", "s64"):
        for value in ("0", "-1", "7"):
            for name in ("add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"):
                yield form(f"{name}.{t}", t, f"{t} ={value}")
            yield form(f"sub.{t}", t, f"={value} {t}")
            yield form(f"setp.lt.{t}", "pred", f"{t} ={value}")
    for value in ("0", "1", "31", "32", "200"):
        yield from (form(f"{name}.{t}", t, f"{t} ={value}") for name, t in (("shl", "b32"), ("shr", "s32"), ("shr", "u64")))
    for one, t in (("=0f3F800000", "f32"), ("=0d3FF8000000000000", "f64"), ("=0f80000000", "f32")):
        yield from (form(f"{name}.{t}", t, f"{t} {one}") for name in ("add", "mul", "sub", "max"))
        yield form(f"fma.rn.{t}", t, f"{t} {one} {t}")
        yield form(f"selp.{t}", t, f"{t} {one} pred")
        yield form(f"mov.{t}", t, one)
    yield form("mad.wide.s32", "s64", "s32 =-4 s64")
    yield form("mul.wide.u32", "u64", "u32 =4")


LITERALS = tuple(literal_forms())


def known_bug(form):
    """Return why a form is known to be wrong in the simulator, or None."""
    for pattern, reason in KNOWN_BUGS.items():
        if fnmatchcase(form.text, pattern):
            return reason
    return None


KNOWN_BUGS = {}
