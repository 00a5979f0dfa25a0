"""Loads and stores move the right bytes: every width, every pattern of lanes, however the address comes about."""

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import simt

TYPES = {"char": 1, "short": 2, "float": 4, "double": 8, "float2": 8, "float4": 16, "short2": 4, "char4": 4}
PATTERNS = {  # name -> index of thread t as CUDA C and in NumPy: no two threads of the block on one element
    "neighbours": ("t", lambda t: t), "backwards": ("63 - t", lambda t: 63 - t), "every third": ("3 * t + 1", lambda t: 3 * t + 1),
    "rows of eight": ("t / 8 * 20 + t % 8", lambda t: t // 8 * 20 + t % 8), "swapped": ("t ^ 5", lambda t: t ^ 5),
    "rows of four": ("t / 4 * 10 + t % 4", lambda t: t // 4 * 10 + t % 4), "crossed": ("t ^ (t / 8 % 4)", lambda t: t ^ t // 8 % 4),
    "transposed": ("t % 8 * 8 + t / 8", lambda t: t % 8 * 8 + t // 8), "rotated": ("(t + 7) % 64", lambda t: (t + 7) % 64),
}
COPY = """extern "C" __global__ void f(const TYPE* in, TYPE* out, const int* index, int scale) {
    SHARED
    const int t = threadIdx.x, at = ADDRESS;
    WRITE
    out[at] = FROM;
}"""
SHARED = {"SHARED": "__shared__ TYPE tile[200];", "WRITE": "tile[at] = in[at]; __syncthreads();", "FROM": "tile[at]"}
GLOBAL = {"SHARED": "", "WRITE": "", "FROM": "in[at]"}


@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", TYPES)
def test_every_element_arrives(kind, space):
    """Addresses from thread indices alone, scaled by an argument, and loaded from an array; full and partial warps."""
    rng, size = np.random.default_rng(0), TYPES[kind]
    source = COPY
    for name, text in (SHARED if space == "shared" else GLOBAL).items():
        source = source.replace(name, text)
    data = rng.integers(0, 256, (200, size), np.uint8)
    for number, (text, pattern) in enumerate(PATTERNS.items()):
        expression, way = pattern[0], ("{}", "({}) * scale", "index[t]")[(number + list(TYPES).index(kind)) % 3]
        threads = (64, 50)[number % 2]
        index = pattern[1](np.arange(64)).astype(INT)
        out = np.zeros_like(data)
        launch(source.replace("ADDRESS", way.format(expression)), [data, out, index, INT(1)], block=threads, defines={"TYPE": kind})
        expected = np.zeros_like(data)
        expected[index[:threads]] = data[index[:threads]]
        assert (out == expected).all(), (text, way)


@pytest.mark.parametrize("way", [{}, {"racecheck": True}])
def test_a_stencil_at_the_very_edges(way):
    """Several accesses beside one address; the outermost ones touch the first and the last element."""
    source = """extern "C" __global__ void f(const float* in, float* out, int first) {
        const int i = first + threadIdx.x;
        out[i] = in[i - 2] + 10 * in[i] + 100 * in[i + 1] + 1000 * in[i + 3];
    }"""
    data = np.arange(69, dtype=FLT)
    out = np.zeros(69, FLT)
    launch(source, [data, out, INT(2)], block=64, **way)
    i = np.arange(2, 66)
    assert (out[2:66] == data[i - 2] + 10 * data[i] + 100 * data[i + 1] + 1000 * data[i + 3]).all()
    for first, index, thread in ((1, -1, 0), (3, 69, 63)):
        error = fault(simt.OutOfBounds, source, [data, out, INT(first)], block=64, **way)
        assert (error.array, error.index, error.thread, error.line) == ("in", index, (thread, 0, 0), 3)


def test_structures_mix_widths():
    source = """struct Item { double d; float f; short s; char c; };
    extern "C" __global__ void f(const Item* in, Item* out) {
        const Item x = in[threadIdx.x];
        Item y;
        y.d = x.f; y.f = x.d; y.s = x.c; y.c = x.s;
        out[31 - threadIdx.x] = y;
    }"""
    kind = np.dtype([("d", "f8"), ("f", "f4"), ("s", "i2"), ("c", "i1")], align=True)
    data, out = np.zeros(32, kind), np.zeros(32, kind)
    i = np.arange(32)
    data["d"], data["f"], data["s"], data["c"] = i * 1.5, i * 0.25, i * 3 - 40, -i
    launch(source, [data, out])
    back = out[::-1]
    assert (back["d"] == i * 0.25).all()
    assert (back["f"] == i * 1.5).all()
    assert (back["s"] == -i).all()
    assert (back["c"] == i * 3 - 40).all()


def test_a_warp_loads_before_it_stores():
    """Lanes go in step: a shift by one inside a warp takes the old values, the next statement sees the new ones."""
    source = """extern "C" __global__ void f(volatile int* a, int* seen) {
        const int i = threadIdx.x;
        const int x = a[i];
        a[i + 1] = x;
        seen[i] = a[i];
    }"""
    a, seen = np.arange(100, 133, dtype=INT), np.zeros(32, INT)
    launch(source, [a, seen])
    assert a.tolist() == [100, *range(100, 132)]
    assert seen.tolist() == [100, *range(100, 131)]


def test_two_names_for_one_array_in_one_statement():
    source = """extern "C" __global__ void f(int* a, int* b, int* out) {
        const int i = threadIdx.x;
        a[i] = 5 * i;
        b[31 - i] += 1;
        out[i] = a[i];
    }"""
    a, out = np.zeros(32, INT), np.zeros(32, INT)
    launch(source, [a, a, out])
    assert out.tolist() == [5 * i + 1 for i in range(32)]


def test_all_lanes_read_one_element_and_one_lane_writes_it():
    source = """extern "C" __global__ void f(const double* in, double* out, int k) {
        double sum = 0;
        for (int j = 0; j < 40; ++j) sum += in[j] * in[(j + k) % 40];
        if (threadIdx.x == 17) out[0] = sum;
        out[1] = 3;
    }"""
    data, out = np.random.default_rng(1).standard_normal(40), np.zeros(2)
    launch(source, [data, out, INT(3)], block=64)
    assert np.allclose(out, [data @ np.roll(data, -3), 3], rtol=1e-13)


def test_indices_beyond_two_to_the_31():
    """64-bit indices, and 32-bit ones that wrap as C says."""
    source = """extern "C" __global__ void f(int* out, long long far, unsigned wrap) {
        out[(far + threadIdx.x) - far] = 1;
        out[wrap + threadIdx.x + 32u] = 2;
    }"""
    out = np.zeros(64, INT)
    launch(source, [out, np.int64(1 << 40), np.uint32(0)])
    assert out.tolist() == [1] * 32 + [2] * 32
    out[:] = 0
    launch(source, [out, np.int64(-(1 << 35)), np.uint32(2**32 - 32)])
    assert out.tolist() == [2] * 32 + [0] * 32


@pytest.mark.parametrize("address", ["0", "one", "threadIdx.x / 8 * one", "threadIdx.x / 5", "(threadIdx.x * 7) % 32 / 8"])
def test_of_lanes_that_write_one_place_the_last_stays(address):
    """The hardware leaves it open; here it is the same whichever way the code runs."""
    source = f'extern "C" __global__ void f(int* out, int one) {{ out[{address}] = threadIdx.x; }}'
    expected = np.full(32, -1)
    for t in range(32):
        expected[{"0": 0, "one": 1, "threadIdx.x / 8 * one": t // 8, "threadIdx.x / 5": t // 5}.get(address, t * 7 % 32 // 8)] = t
    for how in ({}, {"racecheck": True}, {"warp_order": "interleaved"}):
        out = np.full(32, -1, INT)
        launch(source, [out, INT(1)], **how)
        assert out.tolist() == expected.tolist()


WALK = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 out) {
.shared .align 4 .b8 tile[512];
.reg .b32 %t, %s, %x, %y; .reg .b64 %o;
mov.u32 %t, %tid.x;
ld.param.u64 %o, [out];
mad.wide.u32 %o, %t, 4, %o;
mov.u32 %s, tile;
mad.lo.u32 %s, %t, 4, %s;
st.global.u32 [%o], 1;
st.shared.u32 [%s], 10;
add.s64 %o, %o, 128;
add.s32 %s, %s, 128;
st.global.u32 [%o], 2;
st.shared.u32 [%s], 20;
st.global.u32 [%o+128], 3;
add.s64 %o, %o, 256;
add.s32 %s, %s, -128;
ld.shared.u32 %x, [%s];
ld.shared.u32 %y, [%s+128];
add.s32 %x, %x, %y;
st.global.u32 [%o], %x;
ret;
}"""


def test_an_address_register_that_moves_on():
    out = np.zeros(128, INT)
    report = launch(WALK, [out])
    assert out.tolist() == [v for v in (1, 2, 3, 30) for _ in range(32)]
    assert report.counters["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 16
    fault(simt.OutOfBounds, WALK, [np.zeros(127, INT)])


DYNAMIC = """extern "C" __global__ void f(int* out) {
    __shared__ int first[20];
    extern __shared__ ALIGN TYPE more[];
    extern __shared__ int same[];
    __shared__ char last[5];
    const int t = threadIdx.x;
    first[t % 20] = 1000 + t % 20;
    last[t % 5] = 7;
    more[t] = t;
    __syncthreads();
    out[t] = first[t % 20];
    out[64 + t] = (int)more[t ^ 1];
    out[128 + t] = last[t % 5];
    out[192 + t] = ((TYPE*)same)[t] == more[t];
    out[256 + t] = __cvta_generic_to_shared(more) - __cvta_generic_to_shared(first);
}"""


@pytest.mark.parametrize(("kind", "align", "size"), [("int", "", 4), ("double", "", 8), ("char", "", 1), ("int", "__align__(128)", 4)])
def test_dynamic_shared_memory_begins_behind_all_static_arrays(kind, align, size):
    """All dynamic arrays in one place, which none of the static ones overlaps; the static bytes are those of the assembler."""
    t, out = np.arange(64), np.zeros(320, INT)
    source = DYNAMIC.replace("TYPE", kind).replace("ALIGN", align)
    report = launch(source, [out], block=64, dynamic_shared=64 * size, racecheck=True)
    begins = {v.name: v.offset for v in report.shared}
    assert (out.reshape(5, 64)[:4] == [1000 + t % 20, t ^ 1, np.full(64, 7), np.ones(64)]).all()
    assert begins["more"] == begins["same"] == report.resources.static_shared_bytes
    assert {h.kind for h in report.hazards} <= {"WAW"}           # first and last are written by several threads
    fault(simt.OutOfBounds, source.replace("more[t] = t;", "more[t + 1] = t;"), [out], block=64, dynamic_shared=64 * size)
