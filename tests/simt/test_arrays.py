"""Array arguments: written back in place, whatever their strides, views and overlaps; and pointers into any memory."""

import ctypes

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import simt


def test_the_same_array_twice():
    a = np.arange(64, dtype=FLT)
    source = 'extern "C" __global__ void f(const float* in, float* out) { out[63 - threadIdx.x] = in[threadIdx.x] + 100; }'
    report = launch(source, [a, a], block=32)
    assert (a[32:] == np.arange(31, -1, -1) + 100).all()
    assert [x.address for x in report.arrays] == [report.arrays[0].address] * 2


def test_views_that_overlap_see_each_others_writes():
    base = np.arange(100, dtype=INT)
    source = 'extern "C" __global__ void f(int* left, const int* right) { left[threadIdx.x] = right[threadIdx.x] * 10; }'
    report = launch(source, [base[10:60], base[20:70]], block=32)
    expected = np.arange(100)
    expected[10:42] = np.arange(20, 52) * 10
    assert (base == expected).all()
    left, right = report.arrays
    assert right.address - left.address == 40
    error = fault(simt.OutOfBounds, source.replace("left[threadIdx.x]", "left[threadIdx.x + 60]"), [base[10:60], base[20:70]])
    assert error.array in ("left", "right")


def test_a_read_only_view_of_a_writable_array():
    base = np.zeros(32, INT)
    view = base.view()
    view.flags.writeable = False
    launch('extern "C" __global__ void f(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }', [view, base])
    assert (base == 1).all()
    assert (view == 1).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_strides_are_kept(order):
    """The kernel sees memory as it is; elements between those of a view are never written."""
    base = np.zeros((8, 10), INT, order=order)
    part = base[1:7:2, 2:9:3]
    lowest, strides = base[1, 2:].ctypes.data, np.array(part.strides) // 4
    assert part.ctypes.data == lowest
    source = """extern "C" __global__ void f(int* out, int r, int c) {
        const int y = threadIdx.y, x = threadIdx.x;
        out[y * r + x * c] = y * 10 + x;
    }"""
    launch(source, [part, INT(strides[0]), INT(strides[1])], block=(3, 3))
    assert part.tolist() == [[10 * y + x for x in range(3)] for y in range(3)]
    assert np.count_nonzero(base) == 8


def test_empty_arrays_and_scalars():
    zero = np.zeros(0, FLT)
    launch('extern "C" __global__ void f(float* none, int* one) { *one = 5; }', [zero, one := np.array(0, INT)])
    assert one == 5
    error = fault(simt.OutOfBounds, 'extern "C" __global__ void f(float* none) { none[0] = 5; }', [zero])
    assert (error.array, error.index) == ("none", 0)


@pytest.mark.parametrize(("grid", "block", "matrix"), [
    ((1, 1, 1), (16, 1, 1), False), ((2, 1, 1), (8, 1, 1), False), ((1, 1, 1), (4, 4, 1), True), ((1, 2, 1), (9, 1, 1), True),
    ((1, 1, 2), (9, 1, 1), True), ((1, 1, 1), (9, 1, 2), True)])
def test_the_limits_of_a_matrix_are_spoken_of_only_where_threads_have_more_than_one_direction(grid, block, matrix):
    for sign in (1, -1):                               # behind the end, and in front of the beginning
        source = f"""extern "C" __global__ void f(float* x) {{
            x[{sign} * int(threadIdx.x + 4 * threadIdx.y + 8 * (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.z))] = 1;
        }}"""
        said = str(fault(simt.OutOfBounds, source, [np.zeros(8, FLT)], block=block, grid=grid))
        assert ("Guard the access: in a matrix, row and column have a limit each." in said) is matrix
        assert ("Guard the access." in said) is not matrix


def test_negative_strides():
    a = np.arange(32, dtype=INT)
    source = 'extern "C" __global__ void f(int* in) { in[-(int)threadIdx.x] += 100; }'
    launch(source, [a[::-1]])
    assert (a == np.arange(32) + 100).all()
    error = fault(simt.OutOfBounds, source, [a[::-1]], block=33)
    assert error.thread == (32, 0, 0)


def test_lanes_of_one_access_in_different_spaces():
    source = """extern "C" __global__ void f(int* out, int* data) {
        __shared__ int s[32];
        s[threadIdx.x] = 1000 + threadIdx.x;
        __syncwarp();
        int* p = threadIdx.x & 1 ? &s[31 - threadIdx.x] : &data[threadIdx.x];
        out[threadIdx.x] = *p;
    }"""
    out = np.zeros(32, INT)
    report = launch(source, [out, np.arange(32, dtype=INT)])
    assert out.tolist() == [1031 - i if i & 1 else i for i in range(32)]
    counters = report.lines[6]
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 1
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4
    assert counters["smsp__sass_inst_executed_op_shared_ld.sum"] == counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == 1


@pytest.mark.parametrize("how", [{}, {"racecheck": True}, {"trace": [(0, 0)]}, {"warp_order": "interleaved"}], ids=str)
def test_generic_accesses_to_every_space_at_once(how):
    """Loads, stores and atomics of global, shared, local and constant memory by one instruction; the pointers chase themselves."""
    source = """__constant__ int fixed[32] = {5, 6, 7, 8, 9};
    __device__ int own[32];
    struct Node { Node* next; int value; };
    __device__ __noinline__ void touch(int* p, const int* q, int i) { *p += i + *q; if (i % 3) atomicAdd(p, 1000); }
    extern "C" __global__ void f(int* out, int* data) {
        const int i = threadIdx.x;
        __shared__ int s[40]; __shared__ Node shared_node[32];
        int mine[3] = {10, 20, 30};
        s[i] = 7 * i; own[i] = -i;
        Node a{nullptr, i};
        shared_node[i] = Node{&a, 100 + i};
        __syncwarp();
        int* p = i % 5 == 0 ? &s[31 - i] : i % 5 == 1 ? &data[i] : i % 5 == 2 ? &mine[i % 3] : &own[i];
        const int* q = i % 4 == 0 ? &fixed[i % 8] : i % 4 == 1 ? &mine[1] : &data[40];
        touch(p, q, i);
        __syncwarp();
        Node* n = i & 1 ? &shared_node[i] : &a;
        int sum = 0;
        for (; n; n = n->next) sum += n->value;
        out[i] = mine[0] + mine[1] + mine[2] + sum * 10000;
        if (i == 0) for (int k = 0; k < 32; ++k) { out[32 + k] = s[k]; out[64 + k] = own[k]; }
    }"""
    out, data = np.zeros(96, INT), np.arange(100, 141, dtype=INT)
    report = launch(source, [out, data], **how)
    mine, s, own, expected = {}, [7 * i for i in range(32)], [-i for i in range(32)], np.arange(100, 141)
    fixed = [5, 6, 7, 8, 9, 0, 0, 0]
    for i in range(32):
        local = mine[i] = [10, 20, 30]
        q = fixed[i % 8] if i % 4 == 0 else 20 if i % 4 == 1 else 140
        where, at = ((s, 31 - i), (expected, i), (local, i % 3), (own, i), (own, i))[i % 5]
        where[at] += i + q + 1000 * (i % 3 != 0)
    assert (data == expected).all()
    assert out[32:64].tolist() == s
    assert out[64:].tolist() == own
    assert out[:32].tolist() == [sum(mine[i]) + 10000 * (100 + 2 * i if i & 1 else i) for i in range(32)]
    assert not report.hazards


# -- memory of the module ----------------------------------------------------------------------------------------------
VARIABLES = """
__constant__ float scale[4] = {1, 2, 3, 4};
__constant__ int flag;
extern "C" __global__ void f(float* out) { out[threadIdx.x] = scale[threadIdx.x & 3] + flag; }
"""


def test_constants_have_initial_values_or_given_ones():
    out = np.zeros(32, FLT)
    launch(VARIABLES, [out])
    assert (out == np.tile([1, 2, 3, 4], 8)).all()
    launch(VARIABLES, [out], constants={"scale": np.array([5, 6, 7, 8], FLT), "flag": INT(100)})
    assert (out == np.tile([105, 106, 107, 108], 8)).all()
    launch(VARIABLES, [out])
    assert (out == np.tile([1, 2, 3, 4], 8)).all()
    fault(simt.LaunchError, VARIABLES, [out], constants={"scale": np.zeros(5, FLT)})


def test_device_variables():
    source = """__device__ int table[4] = {10, -20, 30, 40};
    __device__ int last;
    extern "C" __global__ void f(int* out) {
        if (threadIdx.x == 31) last = 7;
        __syncthreads();
        out[threadIdx.x] = table[threadIdx.x & 3] + last;
    }"""
    out = np.zeros(32, INT)
    launch(source, [out])
    assert out.tolist() == [17, -13, 37, 47] * 8


def test_structures_by_value_and_every_index():
    source = """struct Pair { int a; double b; };
    extern "C" __global__ void f(Pair p, long long* out) {
        const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        const int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        out[b * blockDim.x * blockDim.y * blockDim.z + t] = p.a * t + (long long)p.b * b;
    }"""
    pair = np.zeros(1, np.dtype([("a", INT), ("b", np.float64)], align=True))
    pair["a"], pair["b"] = 3, 1000.0
    out = np.zeros((24, 30), np.int64)
    launch(source, [pair[0], out], grid=(2, 3, 4), block=(5, 3, 2))
    assert (out == np.arange(30) * 3 + 1000 * np.arange(24)[:, None]).all()


STRUCTURE = """struct Inner { char tag; double weight; };
struct Thing { float* out; short rows; Inner inner; const int* in; char last; };
extern "C" __global__ void f(Thing t, float2 by, int n) {
    const int i = threadIdx.x;
    if (i < n) t.out[i] = t.in[i] * t.inner.weight + t.rows + t.inner.tag + t.last + by.x - by.y;
}"""


def thing(out, given, *, weight=0.5):
    return (out, np.int16(300), (np.int8(-3), np.float64(weight)), given, np.int8(7))


@pytest.mark.parametrize("order", ["forward", "interleaved"])
def test_a_tuple_is_a_structure_passed_by_value(order):
    base, given = np.zeros(40, FLT), np.arange(32, dtype=INT)
    report = launch(STRUCTURE, [thing(base[4:36], given), np.complex64(2 + 1j), INT(30)], warp_order=order)
    np.testing.assert_array_equal(base[4:34], 0.5 * np.arange(30) + 300 - 3 + 7 + 1)
    assert [a.name for a in report.arrays] == ["t.0", "t.3"]
    assert not base[:4].any()
    assert not base[34:].any()


def test_an_array_in_a_structure_and_as_an_argument_is_one_array():
    a = np.zeros(4, INT)
    source = "struct P { int* p; }; extern \"C\" __global__ void f(P s, int* q, P t) { s.p[0] = 1; q[1] = s.p[0] + 1; t.p[2] = q[1] + 1; }"
    launch(source, [(a,), a, (a[1:],)], block=1)
    assert a.tolist() == [1, 2, 0, 3]


def test_an_access_outside_an_array_of_a_structure_names_it():
    error = fault(simt.OutOfBounds, STRUCTURE, [thing(np.zeros(32, FLT), np.zeros(8, INT)), np.complex64(0), INT(32)])
    assert error.array == "t.3"


@pytest.mark.parametrize(("argument", "words"), [
    ((np.int16(1),), "takes 48 bytes, and the members that were given take 2"),
    ((), "take 0"), ((np.bytes_(b"abc"), np.int8(1)), "take 4"), ((np.void(b""), ()), "take 0"),
    (lambda out, given: (*thing(out, given), np.float64(0)), "take 56"),
    (lambda out, given: (out, 300, *thing(out, given)[2:]), "t.1) is 300, a Python int"),
    (lambda out, given: (out.astype(object), *thing(out, given)[1:]), "holds object"),
    (lambda out, given: (out.astype(">f4"), *thing(out, given)[1:]), "other byte order"),
    (lambda out, given: list(thing(out, given)), "a Python list"),
])
def test_a_structure_that_does_not_fit_is_refused(argument, words):
    argument = argument(np.zeros(32, FLT), np.zeros(32, INT)) if callable(argument) else argument
    error = fault(simt.LaunchError, STRUCTURE, [argument, np.complex64(0), INT(1)])
    assert words in str(error)


def test_structures_of_ctypes_and_numpy_keep_their_own_alignment_inside():
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int8), ("b", ctypes.c_int16)]

    packed = np.array((3, 4), np.dtype([("a", "i1"), ("b", "i2")], align=True))[()]
    source = """struct Pair { char a; short b; }; struct S { char c; Pair p, q; double d; };
    extern "C" __global__ void f(S s, double* out) { out[0] = s.c; out[1] = s.p.a; out[2] = s.p.b; out[3] = s.q.a; out[4] = s.q.b;
        out[5] = s.d; }"""
    out = np.zeros(6)
    launch(source, [(np.int8(9), Pair(1, 2), packed, np.float64(5)), out], block=1)
    assert out.tolist() == [9, 1, 2, 3, 4, 5]
