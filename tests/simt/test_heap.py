"""Memory that kernels allocate themselves: malloc, free, new and delete."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"trace": [(0, 0)]}, {"workers": 4}]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lists_of_nodes(how):
    source = """struct Node { int value; Node* next; };
    extern "C" __global__ void f(int* out, int n) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        Node* first = nullptr;
        for (int k = 0; k < n + i % 5; ++k) first = new Node{i * k, first};
        int sum = 0;
        while (first) { sum = 3 * sum + first->value; Node* next = first->next; delete first; first = next; }
        out[i] = sum;
    }"""
    out = np.zeros(120, INT)
    report = launch(source, [out, INT(4)], grid=3, block=40, **how)
    expected = []
    for i in range(120):
        total = 0
        for k in reversed(range(4 + i % 5)):
            total = 3 * total + i * k
        expected.append(total)
    assert out.tolist() == expected
    assert (report.unfreed, report.unfreed_bytes) == (0, 0)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_buffer_for_the_block(how):
    source = """extern "C" __global__ void f(int* out) {
        __shared__ float4* box;
        if (threadIdx.x == 0) box = (float4*)malloc(blockDim.x * sizeof(float4));
        __syncthreads();
        box[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
        __syncthreads();
        const float4 other = box[blockDim.x - 1 - threadIdx.x];
        out[blockIdx.x * blockDim.x + threadIdx.x] = other.x + other.w;
        __syncthreads();
        if (threadIdx.x == 0 && blockIdx.x) free(box);
    }"""
    out = np.zeros(192, INT)
    report = launch(source, [out], grid=3, block=64, **how)
    assert out.tolist() == [66 - i for i in range(64)] * 3
    assert (report.unfreed, report.unfreed_bytes) == (1, 1024)


def test_a_full_heap_gives_null_and_freed_memory_comes_back():
    source = """extern "C" __global__ void f(long long* out) {
        char* p[9];
        int n = 0;
        for (; n < 9; ++n) if (!(p[n] = (char*)malloc(1 << 20))) break;
        out[0] = n;
        out[1] = (long long)malloc(1);
        free(p[2]); free(p[5]); free(p[3]); free(nullptr);
        out[2] = malloc((2 << 20) + 1) == nullptr;
        char* two = (char*)malloc(2 << 20);
        two[(2 << 20) - 1] = 5;
        out[3] = two[(2 << 20) - 1];
        out[4] = malloc(1 << 20) != nullptr;
        out[5] = malloc(16) == nullptr && malloc(~0ull) == nullptr && malloc(1ull << 63) == nullptr;
        out[6] = (long long)two % 16;
    }"""
    out = np.full(7, -1, np.int64)
    report = launch(source, [out], block=1)
    assert out.tolist() == [8, 0, 1, 5, 1, 1, 0]
    assert (report.unfreed, report.unfreed_bytes) == (7, 8 << 20)
    again = np.full(7, -1, np.int64)
    launch(source, [again], block=1)                                           # each launch finds an empty heap
    assert again.tolist() == out.tolist()


def test_many_small_allocations_and_the_same_memory_again_and_again():
    source = """extern "C" __global__ void f(int* out) {
        for (int round = 0; round < 300; ++round) {
            int* p[6];
            for (int k = 0; k < 6; ++k) { p[k] = (int*)malloc(4 + 900 * ((threadIdx.x + round + k) % 7)); *p[k] = k; }
            for (int k = 0; k < 6; ++k) { out[threadIdx.x] += *p[(k * 5) % 6]; free(p[(k * 5) % 6]); }
        }
    }"""
    out = np.zeros(64, INT)
    report = launch(source, [out], block=64)
    assert (out == 300 * 15).all()
    assert report.unfreed == 0


@pytest.mark.sampled(test=16)
@pytest.mark.parametrize("how", WAYS[:4], ids=str)
@pytest.mark.parametrize(("body", "kind", "word"), [
    ("int* p = new int[5]; p[5] = 1;", simt.OutOfBounds, "malloc or new"),
    ("int* p = new int[5]; p[n - 1] = 1;", simt.OutOfBounds, "malloc"),
    ("int* p = new int[5];\nfor (int k = 0; k <= 5; ++k) p[k] = k; *out = p[n];", simt.OutOfBounds, "malloc"),
    ("int* p = new int[5]; new int[5]; p[n + 8] = 1;", simt.OutOfBounds, "malloc"),
    ("char* p = (char*)malloc(n); *p = 1;", simt.OutOfBounds, ""),
    ("int* p = new int[5]; delete[] p; p[2] = 1;", simt.OutOfBounds, "freed"),
    ("int* p = new int[5]; free(p); free(p);", simt.InvalidOperand, "freed"),
    ("int* p = new int[5]; free(p + 4);", simt.InvalidOperand, "did not return"), ("free(out);", simt.InvalidOperand, "did not return"),
    ("int* p = (int*)malloc(9 << 20); *p = 1;", simt.OutOfBounds, "byte 0"),
    ("for (int k = 0; k < 3; ++k) { int* p = new int[4 - k]; for (int j = 0; j < 4; ++j) p[j] = j; free(p); }", simt.OutOfBounds, "malloc"),
    ("int* p = new int[9]; for (int k = 0; k < 9; ++k) { p[k] = k; if (k == 6 + n) free(p); }", simt.OutOfBounds, "freed")])
def test_misuse_is_named(body, kind, word, how):
    source = f'extern "C" __global__ void f(int* out, int n) {{\n {body} }}'
    error = fault(kind, source, [np.zeros(64, INT), INT(0)], **how)
    assert word in str(error)
    assert error.line in (2, 3)


def test_a_malloc_of_the_sources_own_is_its_own():
    text = """.version 8.0
        .target sm_90
        .address_size 64
        .func (.param .b32 r) malloc(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }
        .visible .entry k(.param .u64 a) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [a];
        { .param .b32 x; .param .b32 r; st.param.b32 [x], 4; call (r), malloc, (x); ld.param.b32 %r, [r]; }
        st.global.u32 [%d], %r; ret; }"""
    out = np.zeros(1, INT)
    launch(text, [out], name="k")
    assert out[0] == 5
    with pytest.raises(simt.PtxSyntaxError, match="malloc is declared"):
        launch(text.replace("{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }", ";"), [out], name="k")
