"""Surfaces against what NumPy does with the same bytes: sizes, boundary modes, faults, and arrays of all kinds."""

import numpy as np
import pytest

from course_lib import simt

F = np.float32
TEXT = """
typedef unsigned char uchar;
extern "C" __global__ void flat(cudaSurfaceObject_t s, const int* x, const int* y, const TEXEL* in, TEXEL* out, int write) {
    const int i = threadIdx.x;
    out[i] = surf1Dread<TEXEL>(s, x[i], OUTSIDE);
    if (i == write) surf1Dwrite(in[i], s, x[i], OUTSIDE);
}
extern "C" __global__ void square(cudaSurfaceObject_t s, const int* x, const int* y, const TEXEL* in, TEXEL* out, int write) {
    const int i = threadIdx.x;
    out[i] = surf2Dread<TEXEL>(s, x[i], y[i], OUTSIDE);
    if (i == write) surf2Dwrite(in[i], s, x[i], y[i], OUTSIDE);
}
"""
SIZES = {"uchar": 1, "char": 1, "short": 2, "ushort2": 4, "float": 4, "uchar4": 4, "short4": 8, "int2": 8, "float4": 16, "long long": 8,
         "uchar2": 2, "ulonglong2": 16}


def places(rows, size, inside):
    """Return (x, y) of 32 accesses of `size` bytes; those in the corners, and far outside unless all are to be inside."""
    rng = np.random.default_rng(size)
    height, width = rows.shape
    last = width // size - 1
    x = rng.integers(*((0, last + 1) if inside else (-3, last + 4)), 32) * size
    y = rng.integers(*((0, height) if inside else (-3, height + 3)), 32)
    if not inside:
        x[:4], y[:4] = [-2 ** 31, 2 ** 31 - 16, 0, last * size], [0, height - 1, -2 ** 31, 2 ** 31 - 1]
    return x.astype(np.int32), y.astype(np.int32)


def reference(rows, x, y, size, mode, value, write):
    """Return what the accesses read, and change `rows`, a picture's bytes, by the one that writes."""
    out = np.zeros((32, size), np.uint8)
    for i in range(32):
        last = (rows.shape[1] - size) // size * size
        inside = 0 <= x[i] <= rows.shape[1] - size and 0 <= y[i] < len(rows)
        if inside or mode == "Clamp":
            out[i] = rows[np.clip(y[i], 0, len(rows) - 1), np.clip(x[i], 0, last):][:size]
    if 0 <= x[write] <= rows.shape[1] - size and 0 <= y[write] < len(rows) or mode == "Clamp":
        at = np.clip(x[write], 0, (rows.shape[1] - size) // size * size)
        rows[np.clip(y[write], 0, len(rows) - 1), at:at + size] = value[write]
    return out


@pytest.mark.slow
@pytest.mark.sampled(test=10)
@pytest.mark.parametrize("mode", ["Trap", "Clamp", "Zero"])
@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("entry", ["square", "flat"])
def test_every_size_and_boundary_mode(kind, mode, entry):
    size, rng = SIZES[kind], np.random.default_rng(3)
    picture = rng.integers(0, 256, (5, 9, 4) if entry == "square" else (9, 4), np.uint8)        # rows of 36 bytes: not a multiple of 8
    for write in (0, 1, 3, 17):
        found, expected = picture.copy(), picture.copy()
        rows = expected.reshape(-1, 36)
        x, y = places(rows, size, mode == "Trap")
        if entry == "flat":
            y[...] = 0
        value, out = rng.integers(0, 256, (32, size), np.uint8), np.zeros((32, size), np.uint8)
        for order in ("forward", "interleaved"):
            found[...] = picture
            simt.launch(TEXT, entry, 1, 32, [simt.Surface(found, channels=4), x, y, value, out, np.int32(write)], warp_order=order,
                        defines={"TEXEL": kind, "OUTSIDE": f"cudaBoundaryMode{mode}"}, racecheck=order == "forward")
            rows[...] = picture.reshape(rows.shape)
            assert np.array_equal(out, reference(rows, x, y, size, mode, value, write))
            assert np.array_equal(found, expected)


ONE = 'extern "C" __global__ void k(cudaSurfaceObject_t s, float* o) {\n    '


@pytest.mark.parametrize(("text", "error", "why"), [
    ("surf2Dwrite(1.0f, s, 4 * (int)threadIdx.x, 1);", simt.OutOfBounds, r"\(6, 0, 0\).* writes 4 bytes at byte 24 of row 1 of s, a surf"
                                                                     r".*4 rows of 24 bytes"),
    ("o[0] = surf2Dread<float>(s, 0, -1);", simt.OutOfBounds, "reads 4 bytes at byte 0 of row -1"),
    ("o[0] = surf2Dread<float>(s, -4, 4);", simt.OutOfBounds, "reads 4 bytes at byte -4 of row 4"),
    ("o[0] = surf2Dread<float>(s, threadIdx.x, 0);", simt.Misaligned, r"\(1, 0, 0\).*byte 1 of row 0.* multiple of 4"),
    ("surf2Dwrite(make_float4(0, 0, 0, 0), s, 8, 0, cudaBoundaryModeZero);", simt.Misaligned, "multiple of 16"),
    ("surf2Dwrite(make_float2(0, 0), s, 24, 0);", simt.OutOfBounds, "8 bytes at byte 24"),
])
def test_a_wrong_place_is_an_error_with_the_line(text, error, why):
    picture = np.zeros((4, 6), F)
    with pytest.raises(error, match=r"^k, line 2: thread .*" + why):
        simt.launch(ONE + text + "\n}", "k", 1, 8, [simt.Surface(picture), np.zeros(4, F)])


def test_an_access_wider_than_a_row_has_nowhere_to_be_clamped_to():
    text = ONE + "o[0] = surf1Dread<float4>(s, 0, cudaBoundaryModeClamp).x;\n}"
    with pytest.raises(simt.OutOfBounds, match="16 bytes at byte 0 of s, a surface of 8 bytes"):
        simt.launch(text, "k", 1, 1, [simt.Surface(np.ones(2, F)), np.zeros(1, F)])
    out = np.ones(1, F)
    simt.launch(text.replace("Clamp", "Zero"), "k", 1, 1, [simt.Surface(np.ones(2, F)), out])
    assert out[0] == 0


def test_the_surface_at_fault_is_named():
    text = """extern "C" __global__ void k(cudaSurfaceObject_t a, cudaTextureObject_t t, cudaSurfaceObject_t b) {
        surf2Dwrite(1.0f, threadIdx.x < 3 ? a : b, 0, threadIdx.x);
    }"""
    for rows, name, lane in (((3, 4), "b", 4), ((2, 9), "a", 2), ((3, 9), None, 0)):
        args = [simt.Surface(np.zeros((rows[0], 1), F)), simt.Texture(np.ones(3, F)), simt.Surface(np.zeros((rows[1], 2), F))]
        if name is None:
            simt.launch(text, "k", 1, 8, args)
            continue
        with pytest.raises(simt.OutOfBounds, match=rf"line 2: thread \({lane}, 0, 0\).* of row {lane} of {name}, a surface") as caught:
            simt.launch(text, "k", 1, 8, args)
        assert caught.value.array == name


def test_a_read_only_array_can_be_read():
    picture, out = np.arange(6, dtype=F), np.zeros(6, F)
    picture.flags.writeable = False
    simt.launch(ONE + "o[threadIdx.x] = surf1Dread<float>(s, 4 * (int)threadIdx.x);\n}", "k", 1, 6, [simt.Surface(picture), out])
    assert np.array_equal(out, picture)
    with pytest.raises(simt.InvalidOperand, match="line 2: .* writes to s, which was made from a read-only array"):
        simt.launch(ONE + "surf1Dwrite(0.0f, s, 0);\n}", "k", 1, 6, [simt.Surface(picture), out])


@pytest.mark.parametrize("part", [np.s_[:, :], np.s_[::-1, :], np.s_[::2, :], np.s_[:, 1:4], np.s_[2:, 3:4], np.s_[1:2, :]])
def test_a_part_of_an_array_is_written_and_nothing_else(part):
    text = """extern "C" __global__ void k(cudaSurfaceObject_t s, int w, int h) {
        for (int x = threadIdx.x; x < w; x += 32) surf2Dwrite((short)(100 * blockIdx.x + x), s, 2 * x, blockIdx.x); }"""
    whole = np.full((6, 5), -1, np.int16)
    expected = whole.copy()
    h, w = whole[part].shape
    expected[part] = 100 * np.arange(h)[:, None] + np.arange(w)
    simt.launch(text, "k", h, 32, [simt.Surface(whole[part]), np.int32(w), np.int32(h)])
    assert np.array_equal(whole, expected)


def test_a_picture_goes_from_a_texture_to_a_surface_and_back():
    text = """extern "C" __global__ void blur(cudaTextureObject_t from, cudaSurfaceObject_t to, int w, int h) {
        const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        const float v = tex2D<float>(from, x, y) + tex2D<float>(from, x + 1, y + 1);       // corners: means of four
        surf2Dwrite(v / 2, to, x * (int)sizeof(float), y);
    }"""
    first = np.random.default_rng(1).integers(0, 64, (9, 14)).astype(F)
    found, expected = first.copy(), first.copy()
    for _ in range(2):
        simt.launch(text, "blur", (2, 3), (8, 4), [simt.Texture(found, filter="linear"), simt.Surface(found), np.int32(14), np.int32(9)])
        padded = np.pad(expected, 1, mode="edge").astype(float)
        corners = ((padded[:-1, :-1] + padded[:-1, 1:] + padded[1:, :-1] + padded[1:, 1:]) / 4).astype(F)
        expected = (corners[:-1, :-1] + corners[1:, 1:]) / F(2)
    assert np.array_equal(found, expected)


def test_two_handles_of_one_surface_and_of_an_array_name_the_same_bytes():
    text = """extern "C" __global__ void k(cudaSurfaceObject_t s, cudaSurfaceObject_t t, float* a) {
        surf1Dwrite(3.0f, s, 4);
        a[0] = surf1Dread<float>(t, 4);
    }"""
    own, a = np.zeros(4, F), np.zeros(1, F)
    simt.launch(text, "k", 1, 1, [simt.Surface(own), simt.Surface(own), a])
    assert (own[1], a[0]) == (3, 3)
    simt.launch(text, "k", 1, 1, [simt.Surface(own), simt.Surface(own), own])
    assert own[0] == 3
