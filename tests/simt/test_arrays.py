"""Array arguments: written back in place, whatever their strides, views and overlaps; and pointers into any memory."""

import numpy as np
import pytest
from launching import FLT, INT, fault, launch
from ptx_text import bug

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


def test_negative_strides():
    a = np.arange(32, dtype=INT)
    source = 'extern "C" __global__ void f(int* in) { in[-(int)threadIdx.x] += 100; }'
    launch(source, [a[::-1]])
    assert (a == np.arange(32) + 100).all()
    error = fault(simt.OutOfBounds, source, [a[::-1]], block=33)
    assert error.thread == (32, 0, 0)


@bug("one of the spaces of a generic access is taken for all lanes")
def test_lanes_of_one_access_in_different_spaces():
    source = """extern "C" __global__ void f(int* out, int* data) {
        __shared__ int s[32];
        s[threadIdx.x] = 1000 + threadIdx.x;
        __syncwarp();
        int* p = threadIdx.x & 1 ? &s[31 - threadIdx.x] : &data[threadIdx.x];
        out[threadIdx.x] = *p;
    }"""
    out = np.zeros(32, INT)
    launch(source, [out, np.arange(32, dtype=INT)])
    assert out.tolist() == [1031 - i if i & 1 else i for i in range(32)]


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
