"""Device functions: arguments and results of any size, recursion, pointers, frames, and divergence in all of it."""

import numpy as np
import pytest
from launching import INT, fault, launch
from ptx_text import HEAD

from course_lib import simt
from course_lib.simt.passes import calls
from course_lib.simt.ptx import parser

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"trace": [(0, 0)]}]
STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
NOINLINE = "#define FN __device__ __noinline__\n"


def run(source, *args, n=64, block=64, **how):
    """Launch `f(int* out, …)`; return (out, Report)."""
    out = np.zeros(n, INT)
    report = launch(NOINLINE + source, [out, *args], block=block, **how)
    return out, report


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_recursion_as_deep_as_each_thread_wants(how):
    out, report = run("""FN int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        extern "C" __global__ void f(int* out) { out[threadIdx.x] = fib(threadIdx.x % 11); }""", **how)
    assert out.tolist() == [fib(i % 11) for i in range(64)]
    assert report.counters[STORES] == 2  # the lanes are together again behind the call


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_mutual_recursion_with_arrays_of_its_own_in_every_frame(how):
    source = """FN int odd(int n, int* above);
        FN int even(int n, int* above) {
            int mine[5];
            for (int i = 0; i < 5; ++i) mine[i] = n * 10 + i;
            above[n % 5] += n;
            int below = n <= 0 ? 1 : odd(n - 1, mine);
            for (int i = 0; i < 5; ++i) below += mine[i];
            return below;
        }
        FN int odd(int n, int* above) {
            int mine[3] = {n, n + 1, n + 2};
            above[n % 3] -= 1;
            int below = n <= 0 ? 2 : even(n - 2, (int*)mine - 2 * (n < 2) + 2 * (n < 2));
            return below * 3 + mine[n % 3];
        }
        extern "C" __global__ void f(int* out) {
            int box[5] = {};
            out[threadIdx.x] = even(threadIdx.x % 3 * 3, box) * 7 + box[threadIdx.x % 3 * 3 % 5];
        }"""
    source = source.replace("above[n % 5] += n", "above[n % 3] += n")

    def even(n, above):
        mine = [n * 10 + i for i in range(5)]
        above[n % 3 if n >= 0 else -(-n % 3)] += n
        below = 1 if n <= 0 else odd(n - 1, mine)
        return below + sum(mine)

    def odd(n, above):
        mine = [n, n + 1, n + 2]
        above[n % 3] -= 1
        below = 2 if n <= 0 else even(n - 2, mine)
        return below * 3 + mine[n % 3]

    def expected(i):
        box = [0] * 5
        n = i % 3 * 3
        return even(n, box) * 7 + box[n % 5]

    out, _ = run(source, **how)
    assert out.tolist() == [expected(i) for i in range(64)]


def test_structures_of_every_size_by_value():
    source = """struct A { char a; short b; int c; long long d; double e; float f; };
        struct B { A a[3]; unsigned char tail[5]; };
        struct C { char x[3]; };
        FN A twist(A a, C c) { return A{(char)(a.a + c.x[0]), (short)(a.b * c.x[1]), a.c - c.x[2], a.d << 3, a.e / 2, a.f + 1}; }
        FN B many(B b, int i, A a) { b.a[i % 3] = a; b.tail[i % 5] += i; return b; }
        FN C three(C c) { C r = {{c.x[2], c.x[0], c.x[1]}}; return r; }
        FN void nothing() {}
        FN bool flag(bool a, signed char b, unsigned char c, unsigned short d, long long e, double g) {
            return a && b < 0 && c > 200 && d > 65000 && e > 1ll << 40 && g < 0;
        }
        extern "C" __global__ void f(int* out, double* real) {
            const int i = threadIdx.x;
            C c = three(C{{(char)i, (char)(i + 1), (char)-i}});
            A a = twist(A{(char)i, (short)(i * 300), i * 100000, (long long)i << 33, i * 0.5, i * 2.f}, c);
            B b = {};
            for (int k = 0; k < 7; ++k) { b = many(b, i + k, a); a.c += k; nothing(); }
            real[i] = b.a[(i + 6) % 3].e + b.a[i % 3].f + b.a[1].d;
            out[i] = a.a + 1000 * a.b + b.a[(i + 5) % 3].c + b.tail[i % 5] * 31 + b.tail[(i + 3) % 5]
                   + flag(i & 1, -i, 250, 65535 - i, 1ll << (i % 50 + 10), -i);
        }"""
    real = np.zeros(64)
    out, _ = run(source, real)

    def wrap(v, bits):
        return (v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    for i in range(64):
        c = (wrap(-i, 8), i, i + 1)
        a = {"a": wrap(i + c[0], 8), "b": wrap(wrap(i * 300, 16) * c[1], 16), "c": i * 100000 - c[2], "d": wrap(i << 36, 64),
             "e": i * 0.25, "f": i * 2 + 1}
        rows, tail = [None] * 3, [0] * 5
        for k in range(7):
            rows[(i + k) % 3] = dict(a)
            tail[(i + k) % 5] = (tail[(i + k) % 5] + i + k) & 255
            a["c"] += k
        flag = bool(i & 1 and i % 50 + 10 > 40)
        assert real[i] == rows[(i + 6) % 3]["e"] + rows[i % 3]["f"] + rows[1]["d"]
        assert out[i] == wrap(a["a"] + 1000 * a["b"] + rows[(i + 5) % 3]["c"] + tail[i % 5] * 31 + tail[(i + 3) % 5] + flag, 32)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_pointers_to_functions_in_tables_and_by_lane(how):
    source = """typedef int (*Op)(int, int);
        FN int plus(int a, int b) { return a + b; }
        FN int minus(int a, int b) { return a - b; }
        FN int times(int a, int b) { if (a & 4) return a * b; return a * b + 1; }
        __device__ Op table[3] = {plus, minus, times};
        __constant__ Op fixed[2] = {times, plus};
        extern "C" __global__ void f(int* out, int n) {
            const int i = threadIdx.x;
            int x = 0;
            for (int k = 0; k < n + i % 2; ++k) {
                Op op = k % 2 ? table[(i + k) % 3] : fixed[i & 1];
                if (i % 7 != 3) x = op(x + k, i);
            }
            out[i] = x;
        }"""
    out, report = run(source, INT(5), **how)
    ops = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b + (not a & 4)]

    def expected(i):
        x = 0
        for k in range(5 + i % 2):
            op = ops[(i + k) % 3] if k % 2 else (ops[2], ops[0])[i & 1]
            x = op(x + k, i) if i % 7 != 3 else x
        return (x + 2**31) % 2**32 - 2**31

    assert out.tolist() == [expected(i) for i in range(64)]
    assert report.counters[STORES] == 2


def test_virtual_functions():
    source = """struct Shape {
            int k;
            __device__ Shape(int k) : k(k) {}
            __device__ virtual int area(int x) const = 0;
            __device__ virtual ~Shape() {}
        };
        struct Square : Shape { using Shape::Shape; __device__ int area(int x) const override { return x * x + k; } };
        struct Bar : Shape {
            using Shape::Shape;
            __device__ int area(int x) const override { return k ? Square(k - 1).area(x) * 2 : x; }
        };
        FN int ask(const Shape* s, int x) { return s->area(x); }
        extern "C" __global__ void f(int* out) {
            Square a(threadIdx.x);
            Bar b(threadIdx.x % 4);
            const Shape* shapes[2] = {&a, &b};
            out[threadIdx.x] = ask(shapes[threadIdx.x % 3 == 0], threadIdx.x) + ask(&a, 2);
        }"""
    out, _ = run(source)

    def expected(i):
        k = i % 4
        return (i * i + i if i % 3 else (i * i + k - 1) * 2 if k else i) + 4 + i

    assert out.tolist() == [expected(i) for i in range(64)]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_barriers_inside_functions(how):
    source = """FN int turn(int x, int* box) {
            box[threadIdx.x] = x;
            __syncthreads();
            int y = box[(threadIdx.x + 1) % blockDim.x];
            __syncthreads();
            return y;
        }
        extern "C" __global__ void f(int* out) {
            __shared__ int box[64];
            int x = threadIdx.x;
            for (int k = 0; k < 5; ++k) x = turn(x & 1 ? x + 1 : x * 2, box);
            out[threadIdx.x] = x;
        }"""
    out, report = run(source, **how)
    x = np.arange(64)
    for _ in range(5):
        x = np.roll(np.where(x & 1, x + 1, x * 2), -1)
    assert (out == x).all()
    assert not report.hazards
    if how.get("racecheck"):
        broken = source.replace("__syncthreads();", "", 1)
        _, report = run(broken, **how)
        assert {(h.kind, h.first_line, h.second_line) for h in report.hazards} >= {("RAW", 3, 5)}


def test_exit_and_early_return_inside_functions():
    source = """FN int leave(int x) {
            if (x % 5 == 0) asm("exit;");
            if (x % 5 == 1) return -x;
            const int n = x % 5;
            for (int k = 0; k < n; ++k) if (k == 2) return k * 100; else x += k;
            return x;
        }
        extern "C" __global__ void f(int* out) { out[threadIdx.x] = -1; out[threadIdx.x] = leave(threadIdx.x); }"""
    out, _ = run(source)

    def expected(x):
        if x % 5 < 2:
            return (-1, -x)[x % 5]
        return x + 1 if x % 5 == 2 else 200

    assert out.tolist() == [expected(i) for i in range(64)]


def test_lines_of_faults_and_loads_inside_functions():
    source = """FN int at(const int* in, int i) {
            return in[i];
        }
        extern "C" __global__ void f(int* out, const int* in) { out[threadIdx.x] = at(in, threadIdx.x) + at(in, 0); }"""
    _, report = run(source, np.zeros(64, INT))
    assert report.lines[3]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 4
    error = fault(simt.OutOfBounds, NOINLINE + source, [np.zeros(64, INT), np.zeros(40, INT)], block=64)
    assert (error.line, error.thread, error.array) == (3, (40, 0, 0), "in")


def test_a_stack_that_overflows_is_an_error_with_its_place():
    source = NOINLINE + """FN int deep(int n) {
            return n == 0 ? 0 : 1 + deep(n - 1) * (n & 3);
        }
        extern "C" __global__ void f(int* out, int n) { out[threadIdx.x] = deep(threadIdx.x == 37 ? n : 3); }"""
    launch(source, [np.zeros(64, INT), INT(100)], block=64)
    error = fault(simt.StackOverflow, source, [np.zeros(64, INT), INT(100000)], block=64)
    assert (error.kernel, error.thread, error.block, error.line, error.limit) == ("f", (37, 0, 0), (0, 0, 0), 3, 16384)


def test_pointers_that_lead_nowhere():
    source = NOINLINE + """typedef int (*Op)(int);
        FN int one(int x) { return x; }
        FN int two(int x, int y) { return x + y; }
        __device__ Op table[2] = {one, nullptr};
        __device__ int (*other)(int, int) = two;
        extern "C" __global__ void f(int* out, int n) {
            Op op = n == 2 ? (Op)other : table[n];
            out[threadIdx.x] = op(threadIdx.x);
        }"""
    launch(source, [np.zeros(32, INT), INT(0)])
    for n in (1, 2):
        error = fault(simt.InvalidTarget, source, [np.zeros(32, INT), INT(n)])
        assert (error.line, error.thread) == (9, (0, 0, 0))


def test_functions_that_are_missing_are_named():
    source = 'extern __device__ int strange(int);\nextern "C" __global__ void f(int* out) {\n out[1] = strange(out[0]);\n}'
    error = fault(simt.UnsupportedInstruction, source, [np.zeros(32, INT)], options=("-rdc=true",))
    assert error.line == 3
    assert "strange" in str(error)


# -- PTX by hand --------------------------------------------------------------------------------------------------------
def by_hand(body, functions="", n=32, args=()):
    out = np.zeros(n, INT)
    text = f"""{HEAD}{functions}
.visible .entry k(.param .u64 a) {{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<5>;
ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; mov.b32 %r2, 0;
{body}
st.global.b32 [%d1], %r2; ret; }}"""
    launch(text, [out, *args], name="k", block=n)
    return out.tolist()


def test_indexed_branches():
    body = """and.b32 %r3, %r1, 3; setp.lt.u32 %p1, %r1, 30;
targets: .branchtargets A, B, A, C;
@%p1 brx.idx %r3, targets;
mov.b32 %r2, 77; bra.uni END;
A: add.s32 %r2, %r2, 1; bra END;
B: add.s32 %r2, %r2, 10;
C: add.s32 %r2, %r2, 100;
END:"""
    assert by_hand(body) == [77 if i >= 30 else (1, 110, 1, 100)[i & 3] for i in range(32)]
    with pytest.raises(simt.InvalidTarget) as caught:
        by_hand(body.replace("%r1, 3;", "%r1, 7;"))
    assert caught.value.index == 4


def test_guarded_calls_and_returns_and_variables_of_one_name():
    function = """.func (.param .b32 r) half (.param .b32 x, .param .align 8 .b8 s[8]) {
.reg .b32 %r<9>; .reg .pred %p<3>;
ld.param.u32 %r1, [x]; ld.param.u32 %r2, [s+4];
setp.gt.s32 %p1, %r1, 9; st.param.b32 [r], %r2; @%p1 ret; st.param.b32 [r+0], %r1; }
.func count (.param .b64 at) { .reg .b64 %d<3>; .reg .b32 %r<3>;
ld.param.u64 %d1, [at]; ld.global.u32 %r1, [%d1]; add.s32 %r1, %r1, 5; st.global.u32 [%d1], %r1; ret; }
"""
    body = """setp.ne.s32 %p2, %r1, 4; mov.b32 %r5, 1000;
{ .param .b32 p0; .param .align 8 .b8 p1[8]; .param .b32 q;
st.param.b32 [p0], %r1; st.param.b32 [p1+4], %r5; st.param.b32 [q], 55;
@%p2 call (q), half, (p0, p1);
ld.param.b32 %r2, [q]; }
{ .param .b64 p0; st.param.b64 [p0], %d1; call.uni count, (p0); }
ld.global.u32 %r6, [%d1]; add.s32 %r2, %r2, %r6;"""
    assert by_hand(body, function) == [(55 if i == 4 else 1000 if i > 9 else i) + 5 for i in range(32)]


@pytest.mark.parametrize("wrong", ["call (q), half, (p0);", "call half, (p0, p1);", "call (q), half, (p0, q);", "call (q), nobody, (p0);",
                                   "call (q), k, (p0);", "call (%r1, %r2), half, (p0, p1);",
                                   "call (%r1), half, (%r2, %r1);", "call %r1, (p0);"])
def test_calls_that_do_not_fit_are_refused(wrong):
    function = ".func (.param .b32 r) half (.param .b32 x, .param .align 8 .b8 s[8]) { st.param.b32 [r], 1; ret; }"
    with pytest.raises(simt.SimtError) as caught:
        by_hand("{ .param .b32 p0; .param .align 8 .b8 p1[8]; .param .b32 q;" + wrong + "}", function)
    assert isinstance(caught.value, simt.PtxSyntaxError | simt.UnsupportedInstruction)


@pytest.mark.parametrize("name", ["trap", "brkpt"])
def test_traps(name):
    source = f"""extern "C" __global__ void f(int* out, int n) {{
        out[threadIdx.x] = 1;
        if (threadIdx.x == n) asm volatile("{name};");
    }}"""
    launch(source, [np.zeros(64, INT), INT(64)], block=64)
    error = fault(simt.KernelTrap, source, [np.zeros(64, INT), INT(41)], block=64)
    assert (error.line, error.thread, error.block) == (3, (41, 0, 0), (0, 0, 0))
    assert by_hand("setp.eq.u32 %p1, %r1, 99; @%p1 trap; mov.b32 %r2, 3;") == [3] * 32


# -- clocks and other special registers ---------------------------------------------------------------------------------
def test_clocks_only_grow():
    out = np.zeros((64, 4), np.int64)
    source = """extern "C" __global__ void f(long long* out, int n) {
        long long a = clock64();
        for (int k = 0; k < threadIdx.x % n; ++k) a += clock() < 0;
        long long b = clock64();
        unsigned lo, hi; unsigned long long t;
        asm volatile("mov.u32 %0, %clock; mov.u32 %1, %clock_hi; mov.u64 %2, %globaltimer;" : "=r"(lo), "=r"(hi), "=l"(t));
        out += 4 * threadIdx.x;
        out[0] = a; out[1] = b; out[2] = (long long)hi << 32 | lo; out[3] = t;
    }"""
    for how in WAYS:
        launch(source, [out, INT(5)], block=64, **how)
        assert (np.diff(out, axis=1) > 0).all()
    once = out.copy()
    launch(source, [out, INT(5)], block=64, **WAYS[-1])
    assert (out == once).all()


def test_special_registers():
    names = ["smid", "nsmid", "warpid", "nwarpid", "dynamic_smem_size", "total_smem_size", "aggr_smem_size", "cluster_ctaid.x",
             "cluster_nctaid.y", "cluster_ctarank", "cluster_nctarank", "clusterid.x", "nclusterid.x", "laneid", "lanemask_gt"]
    reads = "\n".join(f'asm volatile("mov.u32 %0, %{n};" : "=r"(v)); out[{i} * 64 + t] = v;' for i, n in enumerate(names))
    source = f"""extern "C" __global__ void f(unsigned* out) {{
        __shared__ int s[10]; s[threadIdx.x % 10] = 0; extern __shared__ int more[]; more[0] = s[0];
        unsigned v, t = threadIdx.x; unsigned short h; unsigned long long g;
        if (blockIdx.x == 2) {{ {reads}
        asm volatile("mov.u16 %0, %ctaid.x;" : "=h"(h)); out[15 * 64 + t] = h;
        asm volatile("mov.u64 %0, %gridid;" : "=l"(g)); out[16 * 64 + t] = g; }}
    }}"""
    out = np.full((17, 64), 99, np.uint32)
    launch(source, [out], grid=3, block=64, dynamic_shared=24)
    t = np.arange(64)
    constant = {0: 0, 1: 1, 3: 2, 4: 24, 5: 128, 6: 48 + 24 + 1024, 7: 0, 8: 1, 9: 0, 10: 1, 11: 2, 12: 3, 15: 2, 16: 1}
    for row, value in constant.items():
        assert (out[row] == value).all(), row
    assert (out[2] == t // 32).all()
    assert (out[13] == t % 32).all()
    assert out[14].tolist() == [0xFFFFFFFE << i % 32 & 0xFFFFFFFF for i in range(64)]
    source = 'extern "C" __global__ void f(int* o) { asm("mov.u32 %0, %envreg3;" : "=r"(o[0])); }'
    error = fault(simt.UnsupportedInstruction, source, [out])
    assert "%envreg3" in str(error)


@pytest.mark.parametrize("how", WAYS[:2], ids=str)
def test_arrays_of_functions_have_bounds(how):
    """What lies behind the frame of a thread's present function is outside, even where a deeper call has been before."""
    source = NOINLINE + """FN int deep(int n) { int a[32]; for (int i = 0; i < 32; ++i) a[i] = n; return a[n & 31]; }
        FN int at(int i) {
            int mine[6] = {1, 2, 3, 4, 5, 6};
            return mine[i];
        }
        extern "C" __global__ void f(int* out, int n) { out[threadIdx.x] = deep(n) + at(threadIdx.x == 9 ? n : 2); }"""
    launch(source, [np.zeros(32, INT), INT(5)], **how)
    error = fault(simt.OutOfBounds, source, [np.zeros(32, INT), INT(6)], **how)
    assert (error.array, error.line, error.thread) == ("local", 5, (9, 0, 0))


def test_functions_come_in_the_same_order_in_every_process():
    """A set of strings has another order in each process: the code and its numbers must not follow it."""
    names = ["delta", "alpha", "gamma", "beta", "epsilon"]
    functions = "".join(f".func {name}() {{ ret; }}\n" for name in names)
    text = f"{HEAD}{functions}.entry k() {{\n{' '.join(f'call {name};' for name in names)}\nret;\n}}\n"
    linked = calls.link(parser.parse(text), "k")
    assert list(linked.functions) == ["k", *sorted(names)]
    assert linked.order == [*sorted(names), "k"]
