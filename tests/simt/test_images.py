"""Textures and surfaces: the model in plain Python and both generators agree, bit for bit, and what does not fit is refused by name."""

import numpy as np
import ptx_text
import pytest
from ptx_forms import image_forms

from course_lib import simt
from course_lib.simt import model
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser

F, NAN, INF = np.float32, np.nan, np.inf
LETTERS = {"f32": "f4", "s32": "i4", "u32": "u4"}
BOTH = ("interleaved", "forward")           # interleaved warps always run the reference generator's code


def ptx(form, lanes=64):
    """Return a kernel: each thread reads coordinates (and data) of its own, runs a form under a guard, and stores four registers."""
    name, *parts = form.split(".")
    n, bits = (2 if "2d" in parts else 1), 32 if name in ("tex", "tld4") else max(int(parts[-2][1:]), 16)
    where = f"[%d1, {{{', '.join(['%r2', '%r3'][:n])}}}]"
    count = 4 if "v4" in parts else 2 if "v2" in parts else 1
    data = f"{{{', '.join(f'%v{i}' for i in range(count))}}}"
    level = ", 0f80000000" if "level" in parts else ""      # minus zero
    text = f"{form} {where}, {data}" if name == "sust" else f"{form} {data}, {where}{level}"
    both = [f"ld.global.b{bits} %v{i}, [%d4+{256 + 8 * i}];" for i in range(4)], \
        [f"st.global.b{bits} [%d5+{8 * i}], %v{i};" for i in range(4)]
    return f""".version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out) {{
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b{bits} %v<4>; .reg .pred %p;
ld.param.u64 %d1, [t];
ld.param.u64 %d2, [in];
ld.param.u64 %d3, [out];
mov.u32 %r1, %tid.x;
setp.ne.u32 %p, %r1, 5;
mad.wide.u32 %d4, %r1, 512, %d2;
mad.wide.u32 %d5, %r1, 32, %d3;
ld.global.b32 %r2, [%d4];
ld.global.b32 %r3, [%d4+8];
{chr(10).join(both[0])}
@%p {text};
{chr(10).join(both[1])}
ret;
}}
"""


def coordinates(form, rng, extent, size):
    """Return (64, 2) coordinates for a form as 32-bit numbers: inside, outside, between texels, and no numbers at all."""
    if form[:3] in ("sul", "sus"):
        x = rng.integers(-2, extent[0] // size + 2, 64) if "trap" not in form else np.arange(64) % (extent[0] // size)
        y = rng.integers(-2, extent[1] + 2, 64) if "trap" not in form else np.arange(64) // (extent[0] // size) % extent[1]
        return np.stack([x * size, y], 1).astype(np.int32)
    if form.endswith("s32"):
        return rng.integers(-3, 12, (64, 2)).astype(np.int32)
    special = [0, -0.0, NAN, INF, -INF, -1e-10, 1e30, -1e30, 0.5, 1, 1.5, 0.001953125, -0.5, 7, 7.5, 8, 8.5]
    found = np.where(rng.random((64, 2)) < 0.5, rng.choice(special, (64, 2)), rng.normal(2, 5, (64, 2)))
    return found.astype(F).view(np.int32)


def image(form, rng, filter="point", **how):
    """Return a texture or surface for a form."""
    shape = (7, 5, 4) if ".2d." in form else (9, 4)
    if form.startswith("s"):
        return simt.Surface(rng.integers(0, 256, (6, 16, 4) if ".2d." in form else (64, 4), np.uint8), channels=4)
    kind = LETTERS[form.split(".")[-2]]
    raw = rng.standard_normal(shape).astype(kind) if kind == "f4" else rng.integers(-99, 99, shape).astype(kind)
    return simt.Texture(raw, channels=4, filter=filter if kind == "f4" else "point", **how)


def agree(form, given, data):
    """Run a form on the model and on both generators, and compare results and surface."""
    source, kept = ptx(form), given.array.copy()
    expected, out = kept.copy(), np.zeros((64, 4), np.uint64)
    model.run(build_program(parser.parse(source), "k"), (1, 1, 1), (64, 1, 1),
              [type(given)(**{**vars(given), "array": expected}), data.copy(), out])
    for order in BOTH:
        mine, found = kept.copy(), np.zeros((64, 4), np.uint64)
        simt.launch(source, "k", 1, 64, [type(given)(**{**vars(given), "array": mine}), data.copy(), found], workers=1, warp_order=order)
        assert found.tobytes() == out.tobytes()
        assert mine.tobytes() == expected.tobytes()


@pytest.mark.slow
@pytest.mark.sampled(test=12, slow=50)
@pytest.mark.parametrize("form", list(image_forms()))
def test_the_model_and_both_generators_agree(form):
    rng = np.random.default_rng(len(form))
    parts = form.split(".")
    nbytes = int(parts[-2][1:]) // 8 * (4 if "v4" in parts else 2 if "v2" in parts else 1)
    modes = [{}, {"address": "border"}, *({"normalized": True, "address": a} for a in (("wrap", "mirror"), ("mirror", "border")))]
    for how in modes if parts[0] in ("tex", "tld4") and parts[-1] == "f32" else modes[:2] if parts[0] == "tex" else [{}]:
        for filter in ("point", "linear"):
            given = image(form, rng, filter, **how)
            data = rng.integers(0, 1 << 32, (64, 128), np.uint32).view(np.int32)
            row = given.array.shape[-2] * given.depth * given.array.itemsize
            data[:, 0:4:2] = coordinates(form, rng, (row, given.extent[1]), nbytes)
            agree(form, given, data)


HEAD = 'extern "C" __global__ void k(cudaTextureObject_t t, float* o) {\n    '
ROW, SQUARE = np.arange(8, dtype=F), np.arange(64, dtype=F).reshape(8, 8)
MISFITS = [
    ("o[0] = tex1Dfetch<float>(t, 0);", np.uint64(7), "uses the handle 0x7, which is no texture"),
    ("o[0] = tex1Dfetch<float>(t + 1, 0);", simt.Texture(ROW), "which is no texture"),
    ("o[0] = tex1Dfetch<float>(t, 0);", simt.Surface(ROW), "is not for t, which is a Surface"),
    ("surf1Dwrite(1.0f, t, 0);", simt.Texture(ROW), "is not for t, which is a Texture"),
    ("o[0] = tex2D<float>(t, 0, 0);", simt.Texture(ROW), "has 2 coordinates, and t has 1 dimension"),
    ("o[0] = tex1D<float>(t, 0);", simt.Texture(SQUARE), "has 1 coordinates, and t has 2 dimensions"),
    ("o[0] = surf1Dread<float>(t, 0);", simt.Surface(SQUARE), "has 1 coordinates, and t has 2 dimensions"),
    ("o[0] = tex1D<int>(t, 0);", simt.Texture(ROW), "asks for s32, and t holds float32: fetch a type such as float"),
    ("o[0] = tex1D<float>(t, 0);", simt.Texture(ROW.astype(np.uint8)), "holds uint8: fetch a type such as unsigned"),
    ("o[0] = tex1D<unsigned>(t, 0);", simt.Texture(ROW.astype(np.int16)), "such as int"),
    ("o[0] = tex1D<int>(t, 0);", simt.Texture(ROW.astype(np.uint8), read="normalized_float"), "read as normalized floats"),
    ("o[0] = tex1D<float2>(t, 0).y;", simt.Texture(ROW), "asks for more channels than t has, 1"),
    ("o[0] = tex2Dgather<float4>(t, 0, 0, 1).x;", simt.Texture(SQUARE), "asks for more channels than t has, 1"),
    ("o[0] = tex1DLod<float>(t, 0, 1.0f);", simt.Texture(ROW), "another level than 0"),
    ("o[0] = tex1Dfetch<float>(t, 0);", simt.Texture(ROW, normalized=True), "counts texels, and t has normalized"),
]


@pytest.mark.parametrize(("text", "given", "why"), MISFITS, ids=[why[:30] for _, _, why in MISFITS])
def test_what_does_not_fit_is_an_error_with_the_line(text, given, why):
    with pytest.raises(simt.InvalidOperand, match=r"^k, line 2: thread \(0, 0, 0\) of block") as caught:
        simt.launch(HEAD + text + "\n}", "k", 1, 1, [given, np.zeros(4, F)])
    assert why in str(caught.value)


def test_a_channel_that_nobody_reads_need_not_be_there():
    out = np.zeros(1, F)
    for options, kind in (((), "float4"), (("-G",), "float")):               # for a debugger all four results are put on the stack
        text = HEAD + f"{kind} v = tex1D<{kind}>(t, 0.5f); o[0] = *(float*)&v; }}"
        simt.launch(text, "k", 1, 1, [simt.Texture(ROW + 3), out], options=options)
        assert out[0] == 3


@pytest.mark.parametrize("text", ["tex3D<float>(t, 0, 0, 0)", "tex2DLayered<float>(t, 0, 0, 0)", "texCubemap<float>(t, 0, 0, 0)",
                                  "tex1DGrad<float>(t, 0, 0, 0)", "surf3Dread<float>(t, 0, 0, 0)", "surf2DLayeredread<float>(t, 0, 0, 0)"])
def test_other_textures_are_refused_by_name_and_line(text):
    with pytest.raises(simt.UnsupportedInstruction, match=r"^line 2: .* (tex|suld)\..* \((layered|three|cube|levels)"):
        simt.launch(HEAD + f"o[0] = {text};\n}}", "k", 1, 1, [simt.Texture(ROW), np.zeros(4, F)])


@pytest.mark.parametrize("text", ["{%f1, %f2, %f3, %f4}|%p1, [%d1, {%f5, %f6}]", "{%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], {%r1, %r2}",
                                  "{%f1, %f2, %f3, %f4}, [%d1, %d2, {%f5, %f6}]", "{%f1, %f2, %f3, %f4}, [%d1, {%f5}]",
                                  "{%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}]", "{%f1, %f2, %f3, %f4}, [name, {%f5, %f6}]"])
def test_operands_that_are_not_covered_are_refused_by_name_and_line(text):
    body = f'.loc 1 77 0\ntex.2d.v4.f32.f32 {text};\n'
    with pytest.raises(simt.UnsupportedInstruction, match=r"^line 77: .*tex\.2d\.v4\.f32\.f32") as caught:
        build_program(parser.parse(ptx_text.entry(body) + '.file 1 "refused.cu"\n'), "k")
    assert caught.value.line == 77


BAD = [
    (lambda: simt.Texture(ROW.astype(np.float64)), "float64"), (lambda: simt.Texture([1, 2]), "from a NumPy array"),
    (lambda: simt.Texture(np.zeros((4, 4, 3), F)), "1, 2 or 4 channels"), (lambda: simt.Texture(np.zeros((2, 3, 4, 2), F)), "one or two"),
    (lambda: simt.Texture(np.zeros(0, F)), "1 to"), (lambda: simt.Texture(ROW, channels=4), "1, 2 or 4 channels"),
    (lambda: simt.Texture(SQUARE, channels=3), "channels=3"), (lambda: simt.Texture(np.float32(3)), "from a NumPy array"),
    (lambda: simt.Texture(ROW, filter="cubic"), "filter is one of"), (lambda: simt.Texture(ROW, address="repeat"), "address is one of"),
    (lambda: simt.Texture(ROW, address="wrap"), "needs normalized=True"),
    (lambda: simt.Texture(ROW, address=("clamp", "mirror")), "mirror"),
    (lambda: simt.Texture(ROW, read="normalized_float"), "8 or 16 bits"), (lambda: simt.Texture(ROW.astype(int)), "int64"),
    (lambda: simt.Texture(ROW.astype(np.int32), filter="linear"), "read as floats"), (lambda: simt.Texture(ROW.astype(">f4")), ">f4"),
    (lambda: simt.Surface(SQUARE.T), "without gaps"), (lambda: simt.Surface(ROW[::2]), "without gaps"),
    (lambda: simt.Texture(ROW, address=3), "address is one of"), (lambda: simt.Texture(ROW, filter=["point"]), "filter is one of"),
    (lambda: simt.Texture(ROW, normalized="no"), "True or False"), (lambda: simt.Texture(ROW, channels="a"), "1, 2 or 4"),
    (lambda: simt.Texture(ROW, read="element_type"), "read is one of"), (lambda: simt.Texture(ROW, address=("clamp",)), "a pair"),
]


@pytest.mark.parametrize(("make", "why"), BAD, ids=[why for _, why in BAD])
def test_what_is_no_texture_is_refused_before_the_launch(make, why):
    with pytest.raises(simt.LaunchError) as caught:
        make()
    assert why in str(caught.value)


def test_a_texture_where_no_handle_is_taken_is_refused():
    with pytest.raises(simt.LaunchError, match="is a 4-byte value, not a handle; a Texture was given"):
        simt.launch('extern "C" __global__ void k(int t) {}', "k", 1, 1, [simt.Texture(ROW)])
