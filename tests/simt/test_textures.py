"""Textures against a reference in NumPy that was written from the guide's formulas alone, in all modes; and kernels that people write."""

import itertools

import numpy as np
import pytest

from course_lib import simt

F = np.float32
TYPES = {"float": F, "half": np.float16, "int": np.int32, "unsigned": np.uint32, "char": np.int8, "uchar": np.uint8, "short": np.int16,
         "ushort": np.uint16}
KERNELS = """
typedef unsigned char uchar;
typedef unsigned short ushort;
extern "C" __global__ void one(cudaTextureObject_t t, const float* x, const float* y, TEXEL* o, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = i % 3 ? tex1D<TEXEL>(t, x[i]) : tex1DLod<TEXEL>(t, x[i], 0.0f);
}
extern "C" __global__ void two(cudaTextureObject_t t, const float* x, const float* y, TEXEL* o, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = i % 3 ? tex2D<TEXEL>(t, x[i], y[i]) : tex2DLod<TEXEL>(t, x[i], y[i], 0.0f);
}
extern "C" __global__ void number(cudaTextureObject_t t, const float* x, const float* y, TEXEL* o, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = tex1Dfetch<TEXEL>(t, (int)x[i]);
}
"""


def axis(given, mode, n, normalized, linear):
    """Return (texel, weight) pairs along one axis; texel -1 is the border."""
    x = np.where(np.isnan(given), 0, given).astype(np.float64)
    if normalized and mode in ("wrap", "mirror"):
        x = np.where(np.isinf(x), 0, x)
        fraction = np.mod(x, 1)
        x = np.where((mode == "mirror") & (np.mod(np.floor(x), 2) == 1), 1 - fraction, fraction)
    x = x * n if normalized else x
    if mode != "border":
        x = np.clip(x, 0, n)
    x = np.clip(x, -9, n + 9)               # further outside nothing changes, and infinity less infinity would be no number
    low = np.floor(x - 0.5 if linear else x).astype(int)
    if not linear:
        picks = [(low, np.ones_like(x))]
    else:
        upper = np.floor((x - 0.5 - low) * 256 + 0.5) / 256
        picks = [(low, 1 - upper), (low + 1, upper)]
    if mode == "border":
        return [(np.where((i >= 0) & (i < n), i, -1), w) for i, w in picks]
    return [(i % n if mode == "wrap" and linear else np.clip(i, 0, n - 1), w) for i, w in picks]


def reference(texels, axes):
    """Return the weighted sum of texels; `texels[y, x]` has a last axis of channels, `axes` are the pairs of x and of y."""
    total = None
    for (j, v), (i, u) in itertools.product(axes[1], axes[0]):
        found = np.where(((i < 0) | (j < 0))[:, None], 0, texels[j, i].astype(np.float64))
        part = found * (u * v)[:, None]
        total = part if total is None else total + part
    return total


def as_read(array, read):
    """Return texels as a kernel reads them."""
    if read == "normalized_float":
        return np.maximum(array.astype(F) / F(np.iinfo(array.dtype).max), F(-1))
    return array.astype(F) if array.dtype == np.float16 else array


def places(rng, n, normalized, count=300):
    """Return coordinates along an axis of n texels: ends, halves, ties of the weights, far outside, and no numbers."""
    special = np.array([0, -0.0, np.nan, np.inf, -np.inf, -1e-10, -1e-30, 1e30, -1e30, n, n - 0.5, n + 0.5, n - 1, 2 * n, -n, -0.5, 0.5,
                        1.5, 0.5 + 1 / 512, 0.5 + 3 / 512, 1 - 1 / 512, n - 1e-6, 1e-6, -0.5 - 1 / 512])
    found = np.where(rng.random(count) < 0.4, rng.choice(special, count), rng.uniform(-2.5 * n, 3.5 * n, count))
    with np.errstate(over="ignore"):
        return (found / n if normalized else found).astype(F)


def values(rng, dtype, shape):
    """Return texels: of floats some that are infinite or no numbers, of integers the ends of their range."""
    if dtype in (F, np.float16):
        found = rng.standard_normal(shape).astype(dtype)
        return np.where(rng.random(shape) < 0.05, rng.choice(np.array([np.inf, -np.inf, np.nan, -0.0, 6e-8, 65504], dtype), shape), found)
    ends = np.iinfo(dtype)
    return rng.choice(np.array([ends.min, ends.max, 0, 1, ends.max // 3, ends.min // 2], dtype), shape)


def same(found, right):
    """Hold results to each other bit by bit, but for which NaN it is."""
    found, right = found.reshape(right.shape), right.astype(found.dtype)
    if found.dtype == F:
        assert np.array_equal(np.isnan(found), np.isnan(right))
        found, right = (np.where(np.isnan(a), 0, a) for a in (found, right))
    assert found.tobytes() == right.tobytes()


def settings(read, whole, dimensions):
    """Yield all (filter, modes, normalized) that go together."""
    for filter in ("point", "linear"):
        for normalized in (False, True):
            modes = ("clamp", "border", "wrap", "mirror") if normalized else ("clamp", "border")
            for pair in itertools.product(modes, repeat=dimensions):
                if filter == "point" or not whole or read == "normalized_float":
                    yield filter, (*pair, "clamp")[:2], normalized


def check(name, read, channels, shape, kernel="two", **how):
    """Run one kind of texel in all settings on one shape."""
    dtype, rng, n = TYPES[name], np.random.default_rng(len(name) + channels), 300
    base = "float" if read == "normalized_float" or name == "half" else name
    kind, out = f"{base.replace('unsigned', 'uint') if channels > 1 else base}{channels if channels > 1 else ''}", np.dtype(dtype)
    out = np.dtype(F) if base == "float" else out
    array = values(rng, dtype, shape + (channels,) * (channels > 1))
    texels = as_read(array, read).reshape((1,) * (2 - len(shape)) + shape + (channels,))
    for filter, modes, normalized in settings(read, np.dtype(dtype).kind in "iu", len(shape)):
        sizes = (shape * 2)[-1:] + shape[:1]
        x, y = (places(rng, size, normalized, n) for size in sizes)
        given = simt.Texture(array, filter=filter, address=modes, normalized=normalized, read=read, channels=channels)
        o = np.zeros((n, channels), out)
        simt.launch(KERNELS, kernel, 3, 100, [given, x, y, o, np.int32(n)], defines={"TEXEL": kind}, **how)
        axes = [axis(c, m, s, normalized, filter == "linear") for c, m, s in zip((x, y), modes, sizes)]
        if len(shape) == 1:
            axes[1] = [(np.zeros(n, int), np.ones(n))]
        with np.errstate(invalid="ignore", over="ignore"):
            right = reference(texels, axes) if filter == "linear" else \
                np.where(((axes[0][0][0] < 0) | (axes[1][0][0] < 0))[:, None], 0, texels[axes[1][0][0], axes[0][0][0]]).astype(texels.dtype)
            same(o, right.astype(out))


KINDS = [(name, read, channels) for name in TYPES for channels in (1, 2, 4) for read in ("element", "normalized_float")
         if read == "element" or name in ("char", "uchar", "short", "ushort")]


@pytest.mark.slow
@pytest.mark.sampled(test=8)
@pytest.mark.parametrize(("name", "read", "channels"), KINDS)
def test_two_dimensions(name, read, channels):
    check(name, read, channels, (5, 7))


@pytest.mark.sampled(test=8)
@pytest.mark.parametrize(("name", "read", "channels"), KINDS)
def test_one_dimension(name, read, channels):
    check(name, read, channels, (7,), kernel="one")


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (33, 2)])
def test_a_texture_of_one_texel_and_narrow_ones(shape):
    check("float", "element", 1, shape, warp_order="interleaved")
    check("uchar", "normalized_float", 1, shape)


@pytest.mark.parametrize("address", ["clamp", "border"])
@pytest.mark.parametrize(("name", "channels"), [("float", 1), ("uchar", 4), ("short", 2), ("int", 1), ("half", 1)])
def test_texels_by_number(name, channels, address):
    rng, shape = np.random.default_rng(4), (9,) + (channels,) * (channels > 1)
    array, out = values(rng, TYPES[name], shape), F if name == "half" else TYPES[name]
    x = np.r_[np.arange(-4, 14), [-2 ** 31, 2 ** 31 - 128]].astype(F)
    for filter in ("point", "linear") if np.dtype(out).kind == "f" else ("point",):         # tex1Dfetch never filters
        o = np.zeros((len(x), channels), out)
        given = simt.Texture(array, filter=filter, address=address, channels=channels)
        kind = ("float" if name == "half" else name) + str(channels) * (channels > 1)
        simt.launch(KERNELS, "number", 1, len(x), [given, x, x, o, np.int32(len(x))], defines={"TEXEL": kind})
        right = as_read(array, "element").reshape(9, channels)[np.clip(x, 0, 8).astype(int)]
        same(o, np.where(((x < 0) | (x > 8))[:, None] & (address == "border"), 0, right))


@pytest.mark.parametrize(("name", "read"), [("half", "element"), ("char", "normalized_float"), ("ushort", "normalized_float"),
                                            ("short", "normalized_float"), ("uchar", "normalized_float")])
def test_every_number_of_a_small_type_is_read_right(name, read):
    dtype = np.dtype(TYPES[name])
    array = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    x = np.arange(len(array), dtype=F)
    text = """extern "C" __global__ void k(cudaTextureObject_t t, float* o) {
        const int i = blockIdx.x * 256 + threadIdx.x; o[i] = tex1Dfetch<float>(t, i); }"""
    simt.launch(text, "k", len(x) // 256, 256, [simt.Texture(array, read=read), x])
    same(x, as_read(array, read))


def test_a_gather_takes_the_texels_of_a_linear_filter():
    text = """extern "C" __global__ void k(cudaTextureObject_t t, const float* x, const float* y, float4* o) {
        o[threadIdx.x] = tex2Dgather<float4>(t, x[threadIdx.x], y[threadIdx.x], 1); }"""
    rng = np.random.default_rng(2)
    array = rng.standard_normal((6, 5, 2)).astype(F)
    x = np.r_[2.5, 2.0, 2.499, 0.0, 5.0, -3, rng.uniform(-2, 8, 26)].astype(F)     # 2.499 - 0.5 is 2 with 8 bits of fraction
    y = rng.uniform(-2, 8, 32).astype(F)
    o = np.zeros((32, 4), F)
    simt.launch(text, "k", 1, 32, [simt.Texture(array), x, y, o])
    i, j = (np.floor(np.round((np.clip(c, 0, n) - 0.5).astype(float) * 256) / 256).astype(int) for c, n in ((x, 5), (y, 6)))
    corners = [array[np.clip(j + b, 0, 5), np.clip(i + a, 0, 4), 1] for a, b in ((0, 1), (1, 1), (1, 0), (0, 0))]
    assert np.array_equal(o, np.stack(corners, 1))
    assert i[2] == 2


def test_what_a_texture_holds_is_what_the_array_held_when_the_launch_began():
    text = """extern "C" __global__ void k(cudaTextureObject_t t, float* a) { a[threadIdx.x] += tex1Dfetch<float>(t, 7 - threadIdx.x); }"""
    base = np.arange(16, dtype=F).reshape(2, 8)
    a, t = base[0].copy(), simt.Texture(base[1][::-1])
    simt.launch(text, "k", 1, 8, [t, a])
    assert np.array_equal(a, base[0] + base[1])
    own = np.arange(8, dtype=F)
    simt.launch(text, "k", 1, 8, [simt.Texture(own), own])
    assert np.array_equal(own, np.full(8, 7))
    own[...] = 1                                        # a Texture is made once, and used at several launches
    a[...] = 0
    simt.launch(text, "k", 1, 8, [t, a])
    assert np.array_equal(a, base[1])


def test_textures_in_a_structure_and_through_functions():
    text = """struct Pair { int n; cudaTextureObject_t t[2]; float* o; };
    __device__ __noinline__ float get(cudaTextureObject_t t, int i) { return tex1Dfetch<float>(t, i); }
    extern "C" __global__ void k(Pair p) {
        if (threadIdx.x < p.n) p.o[threadIdx.x] = get(p.t[threadIdx.x & 1], threadIdx.x);       // lanes with different textures
    }"""
    a, b, o = np.arange(8, dtype=F), -np.arange(8, dtype=F), np.zeros(8, F)
    simt.launch(text, "k", 1, 32, [(np.int32(8), simt.Texture(a), simt.Texture(b), o)])
    assert np.array_equal(o, np.where(np.arange(8) % 2, b, a))


CONVOLUTION = """__constant__ float weights[25];
extern "C" __global__ void convolve(cudaTextureObject_t image, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i)
            sum += weights[(j + 2) * 5 + i + 2] * tex2D<float>(image, x + i + 0.5f, y + j + 0.5f);
    out[y * width + x] = sum;
}"""


def test_an_image_is_convolved():
    rng = np.random.default_rng(1)
    image, weights = rng.integers(0, 99, (13, 21)).astype(F), rng.integers(-3, 4, (5, 5)).astype(F)
    for address, mode in (("clamp", "edge"), ("border", "constant")):
        out, padded = np.zeros_like(image), np.pad(image, 2, mode=mode)
        report = simt.launch(CONVOLUTION, "convolve", (3, 2), (8, 8),
                             [simt.Texture(image, address=address), out, np.int32(21), np.int32(13)],
                             constants={"weights": weights}, racecheck=True)
        right = sum(weights[j, i] * padded[j:j + 13, i:i + 21] for j in range(5) for i in range(5))
        assert np.array_equal(out, right)
        assert report.counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 0      # fetches are no global loads
        assert not report.hazards


RESIZE = """extern "C" __global__ void resize(cudaTextureObject_t image, uchar4* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 v = tex2D<float4>(image, (x + 0.5f) / width, (y + 0.5f) / height);
    out[y * width + x] = make_uchar4(v.x * 255 + 0.5f, v.y * 255 + 0.5f, v.z * 255 + 0.5f, v.w * 255 + 0.5f);
}"""


def test_a_picture_is_resized():
    rng = np.random.default_rng(5)
    picture, out = rng.integers(0, 256, (6, 9, 4), np.uint8), np.zeros((15, 20, 4), np.uint8)
    given = simt.Texture(picture, filter="linear", normalized=True, read="normalized_float")
    simt.launch(RESIZE, "resize", (2, 2), (16, 8), [given, out, np.int32(20), np.int32(15)])
    x, y = ((np.arange(n) + 0.5) / n * size - 0.5 for n, size in ((20, 9), (15, 6)))
    rows = np.stack([np.interp(y, np.arange(6), picture[:, i, c]) for c in range(4) for i in range(9)]).reshape(4, 9, 15)
    right = np.stack([[np.interp(x, np.arange(9), rows[c, :, j]) for j in range(15)] for c in range(4)]).transpose(1, 2, 0)
    assert np.abs(out - right).max() <= 1.5         # weights of 8 bits, and the rounding to bytes
    same_size = np.zeros_like(picture)
    simt.launch(RESIZE, "resize", (1, 1), (16, 8), [given, same_size, np.int32(9), np.int32(6)])
    assert np.array_equal(same_size, picture)


LOOKUP = """extern "C" __global__ void translate(cudaTextureObject_t table, const unsigned char* text, unsigned char* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = tex1Dfetch<unsigned char>(table, text[i]);
}"""


def test_a_table_is_looked_up():
    rng = np.random.default_rng(6)
    table, text = rng.permutation(256).astype(np.uint8), rng.integers(0, 256, 1000, np.uint8)
    out = np.zeros_like(text)
    report = simt.launch(LOOKUP, "translate", 3, 64, [simt.Texture(table), text, out, np.int32(1000)])
    assert np.array_equal(out, table[text])
    assert report.counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == -(-1000 // 32)
