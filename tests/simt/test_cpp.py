"""C++17 in kernels, the compiler's lowering of it and the library's headers: held to NumPy and Python."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}]


def run(source, *args, n=64, block=64, **how):
    out = np.zeros(n, INT)
    report = launch(source, [out, *args], block=block, **how)
    return out.tolist(), report


def wrap(v, bits=32):
    return (v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_blocks_of_three_dimensions_and_shared_memory_of_several_types(how):
    source = """extern __shared__ double raw[];
    extern "C" __global__ void f(int* out, double* real, int n) {
        const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        const int count = blockDim.x * blockDim.y * blockDim.z;
        double* d = raw;
        short* s = reinterpret_cast<short*>(d + n);
        char* c = reinterpret_cast<char*>(s + n);
        d[t] = t * 0.5; s[t] = t * 300; c[t] = t;
        __syncthreads();
        const int o = count - 1 - t;
        real[blockIdx.x * count + t] = d[o];
        out[blockIdx.x * count + t] = s[o] * 2 + c[(t + 1) % count] + 100000 * threadIdx.z;
    }"""
    out, real = np.zeros((3, 60), INT), np.zeros((3, 60))
    report = launch(source, [out, real, INT(60)], grid=3, block=(5, 3, 4), dynamic_shared=60 * 11, **how)
    t = np.arange(60)
    assert (real == (59 - t) * 0.5).all()
    assert (out == (59 - t) * 600 + (t + 1) % 60 + 100000 * (t // 15)).all()
    assert not report.hazards
    fault(simt.OutOfBounds, source, [out, real, INT(60)], grid=3, block=(5, 3, 4), dynamic_shared=60 * 11 - 1)


def test_unions_bit_fields_and_copies_of_structures():
    source = """union Word { float f; unsigned u; unsigned char b[4]; };
    struct Bits { unsigned a : 3, b : 11; int c : 7; unsigned long long d : 40; };
    struct Deep { Bits bits[2]; Word w; short tail; Deep* self; };
    __constant__ Deep origin = {{{5, 1000, -3, 0xffffffffffull}, {1, 2, 3, 4}}, {1.5f}, -7, nullptr};
    extern "C" __global__ void f(int* out) {
        const int i = threadIdx.x;
        Deep a = origin, list[3];
        a.bits[i & 1].b += i * 97; a.bits[1].c -= i; a.bits[0].d += i;
        a.w.f = i * 0.25f - 3; a.w.b[3] ^= 0x80;
        a.self = &list[i % 3];
        for (int k = 0; k < 3; ++k) { list[k] = a; list[k].tail += k * i; }
        *a.self = list[(i + 1) % 3];
        Deep& last = *list[(i + 2) % 3].self;
        out[i] = last.bits[0].b + last.bits[1].b * 3 + last.bits[1].c * 100000 + (int)last.bits[0].d + (last.w.u >> 20) + last.tail * 7;
    }"""
    found, _ = run(source)

    def expected(i):
        b = [1000, 2]
        b[i & 1] = (b[i & 1] + i * 97) & 2047
        u = int(np.float32(i * 0.25 - 3).view(np.uint32)) ^ 0x80000000
        tail = wrap(-7 + (i + 1) % 3 * i, 16)
        return wrap(b[0] + b[1] * 3 + wrap(3 - i, 7) * 100000 + wrap((0xFFFFFFFFFF + i) & 0xFFFFFFFFFF) + (u >> 20) + tail * 7)

    assert found == [expected(i) for i in range(64)]


def test_templates_constexpr_folds_and_lowered_names():
    source = """template <int... Ns> struct List {};
    template <int... Ns> __device__ int sum(List<Ns...>, int x) { return (0 + ... + (Ns * x)) + sizeof...(Ns); }
    __device__ constexpr int cube(int n) { int r = 1; for (int i = 0; i < 3; ++i) r *= n; return r; }
    template <class T, int N> struct Stack {
        T data[N]; int top = 0;
        __device__ void push(T v) { data[top++ % N] = v; }
        __device__ T pop() { return data[--top % N]; }
    };
    template <class T, int N> __global__ void work(T* out) {
        Stack<T, N> s;
        for (int k = 0; k < N + (int)(threadIdx.x & 3); ++k) s.push(T(k * threadIdx.x));
        T total = 0;
        for (int k = 0; k < N - 1; ++k) if constexpr (sizeof(T) == 4) total = total * 3 + s.pop(); else total -= s.pop();
        out[threadIdx.x] = total + sum(List<1, cube(3), -5>{}, threadIdx.x);
    }
    template __global__ void work<int, 6>(int*);
    template __global__ void work<double, 4>(double*);"""

    def expected(i, n, real):
        values = [k * i for k in range(n + (i & 3))]
        total = 0
        for v in values[::-1][:n - 1]:
            total = total - v if real else total * 3 + v
        return total + 23 * i + 3

    for name, kind, n in (("_Z4workIiLi6EEvPT_", INT, 6), ("_Z4workIdLi4EEvPT_", np.float64, 4)):
        out = np.zeros(40, kind)
        launch(source, [out], block=40, name=name)
        assert out.tolist() == [expected(i, n, kind is np.float64) for i in range(40)]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lambdas_closures_and_objects_with_methods(how):
    source = """template <class F> __device__ __noinline__ int twice(F f, int x) { return f(x) + f(x + 1); }
    struct Random {
        unsigned state;
        __device__ __noinline__ unsigned operator()() { state ^= state << 13; state ^= state >> 17; return state ^= state << 5; }
    };
    template <class F> __device__ __noinline__ int walk(int depth, const F& visit) {
        if (depth == 0) return visit(depth);
        return walk(depth - 1, visit) + visit(depth) * 2;
    }
    extern "C" __global__ void f(int* out) {
        const int i = threadIdx.x;
        int calls = 0;
        Random r{i * 2654435761u + 1};
        auto count = [&calls, &r, i](int x) { ++calls; return int(r() >> 24) + x * i; };
        int x = twice(count, 10);
        if (i % 3) x += twice([=](int y) { return y * x; }, i);
        x += walk(i % 5, [&](int d) { calls += d; return d ^ i; });
        out[i] = x + calls * 1000000;
    }"""
    found, _ = run(source, **how)

    def expected(i):
        state = (i * 2654435761 + 1) & 0xFFFFFFFF

        def step():
            nonlocal state
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            return state

        x = (step() >> 24) + 10 * i + (step() >> 24) + 11 * i
        if i % 3:
            x += i * x + (i + 1) * x
        depth = i % 5
        x += i + sum((d ^ i) * 2 for d in range(1, depth + 1))
        return wrap(x + (2 + sum(range(depth + 1))) * 1000000)

    assert found == [expected(i) for i in range(64)]


def test_pointers_to_members_and_multiple_inheritance():
    source = """struct Base { int a; __device__ virtual int id() { return a; } };
    struct Other { int b; __device__ virtual int id2(int x) { return b + x; } __device__ virtual int twin() = 0; };
    struct Both : Base, Other {
        int c;
        __device__ int id() override { return c * 10; }
        __device__ int id2(int x) override { return c + x * 2 + a; }
        __device__ int twin() override { return id() + b; }
        __device__ __noinline__ int plus(int x) { return x + c; }
        __device__ __noinline__ int minus(int x) { return x - c; }
    };
    __device__ __noinline__ int ask(Base* p, Other* q, int x) { return p->id() + q->id2(x) * 100 + q->twin() * 10000; }
    extern "C" __global__ void f(int* out) {
        Both o; o.a = threadIdx.x; o.b = 7; o.c = threadIdx.x % 10;
        Base plain; plain.a = 3;
        int (Both::*what)(int) = threadIdx.x & 1 ? &Both::plus : &Both::minus;
        out[threadIdx.x] = ask(threadIdx.x % 4 ? &o : &plain, &o, 2) + (o.*what)(1000000);
    }"""
    found, _ = run(source)

    def expected(i):
        c = i % 10
        return (c * 10 if i % 4 else 3) + (c + 4 + i) * 100 + (c * 10 + 7) * 10000 + 1000000 + (c if i & 1 else -c)

    assert found == [expected(i) for i in range(64)]


def test_goto_loops_that_are_no_loops_of_the_language():
    """Jumps into and out of loops make a graph that no nesting describes."""
    source = """extern "C" __global__ void f(int* out) {
        int x = threadIdx.x, n = 0;
        if (x & 1) goto middle;
    top:
        x = x * 3 + 1; ++n;
        if (x % 7 == 0) goto end;
    middle:
        x ^= n << 2; n += 2;
        switch (x % 5) { case 0: goto top; case 1: x += 3; case 2: if (n < 40) goto middle; break; case 4: n += 5; if (n < 60) goto top; }
    end:
        out[threadIdx.x] = x * 100 + n;
    }"""
    found, _ = run(source)

    def expected(x):
        n, at = 0, "middle" if x & 1 else "top"
        while at != "end":
            if at == "top":
                x, n = wrap(x * 3 + 1), n + 1
                at = "end" if x % 7 == 0 else "middle"
                continue
            x, n, at = x ^ wrap(n << 2), n + 2, "end"
            case = int(np.fmod(x, 5))
            if case == 0:
                at = "top"
            elif case in (1, 2):
                x += 3 * (case == 1)
                at = "middle" if n < 40 else "end"
            elif case == 4:
                n += 5
                at = "top" if n < 60 else "end"
        return wrap(x * 100 + n)

    assert found == [expected(i) for i in range(64)]


# -- headers ------------------------------------------------------------------------------------------------------------
GROUPS = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
"""


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("size", [16, 32, 4])
def test_cooperative_groups(size, how):
    source = GROUPS + """extern "C" __global__ void f(int* out) {
        __shared__ int box[64];
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<SIZE>(block);
        int v = block.thread_rank() * 7 % 23;
        v += tile.shfl_xor(v, 3) * 2 + tile.shfl_down(v, 1);
        int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());
        int until = cg::inclusive_scan(tile, v), before = cg::exclusive_scan(tile, v);
        box[block.thread_rank()] = sum;
        block.sync();
        int far = box[63 - block.thread_rank()];
        int odd = 0;
        if (v % 3) {
            auto some = cg::coalesced_threads();
            odd = some.size() * 100 + some.thread_rank() + cg::reduce(some, v, cg::plus<int>());
        }
        out[block.thread_rank()] = sum + most * 3 + until * 5 + before * 7 + far * 11 + odd * 13
                                 + tile.any(v == 20) + tile.ballot(v & 1) % 97;
    }""".replace("SIZE", str(size))
    found, report = run(source, **how)
    first = np.arange(64) * 7 % 23
    lane = np.arange(64)
    down = np.where(lane % size < size - 1, np.minimum(lane + 1, 63), lane)
    v = first + 2 * first[lane ^ 3] + first[down]
    tiles = v.reshape(-1, size)

    def spread(values):
        return np.repeat(values, size)

    total, until = spread(tiles.sum(1)), tiles.cumsum(1).ravel()
    odd = np.zeros(64, int)
    for w in (0, 32):
        some = [i for i in range(w, w + 32) if v[i] % 3]
        odd[some] = [len(some) * 100 + k + v[some].sum() for k in range(len(some))]
    ballot = spread(((tiles & 1) << np.arange(size)).sum(1)) % 97
    expected = total + spread(tiles.max(1)) * 3 + until * 5 + (until - v) * 7 + total[::-1] * 11 + odd * 13 + ballot
    expected += spread((tiles == 20).any(1))
    assert found == expected.tolist()
    assert not report.hazards


@pytest.mark.slow
def test_partitions_by_a_value():
    source = GROUPS + """extern "C" __global__ void f(int* out) {
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        auto part = cg::binary_partition(warp, threadIdx.x % 3 == 0);
        auto same = cg::labeled_partition(warp, threadIdx.x % 5);
        out[threadIdx.x] = part.size() * 100 + part.thread_rank() + 10000 * cg::reduce(same, (int)threadIdx.x, cg::plus<int>());
    }"""
    found, _ = run(source)

    def expected(i):
        warp = range(i // 32 * 32, i // 32 * 32 + 32)
        part = [j for j in warp if (j % 3 == 0) == (i % 3 == 0)]
        return len(part) * 100 + part.index(i) + 10000 * sum(j for j in warp if j % 5 == i % 5)

    assert found == [expected(i) for i in range(64)]


@pytest.mark.slow
def test_atomics_and_arrays_of_the_standard_library():
    source = """#include <cuda/atomic>
    #include <cuda/std/array>
    #include <cuda/std/tuple>
    extern "C" __global__ void f(int* out) {
        __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
        if (threadIdx.x == 0) turn.store(0);
        __syncthreads();
        cuda::std::array<int, 4> a{1, 20, 300, 4000};
        auto [x, y] = cuda::std::make_tuple(a[threadIdx.x & 3], a.size() * 0.5);
        int want = threadIdx.x / 32;
        if (threadIdx.x % 32 == 0) {
            while (turn.load(cuda::memory_order_acquire) != 1 - want) { }
            out[2 + want] = x + (int)y + 10 * want;
            turn.fetch_add(1, cuda::memory_order_release);
        }
        cuda::atomic_ref<int, cuda::thread_scope_device>(out[0]).fetch_add(x, cuda::memory_order_relaxed);
        int expected = 0;
        cuda::atomic_ref<int, cuda::thread_scope_device>(out[1]).compare_exchange_strong(expected, 5 + want * 0);
    }"""
    found, _ = run(source, n=4)
    assert found == [16 * 4321, 5, 3, 13]
