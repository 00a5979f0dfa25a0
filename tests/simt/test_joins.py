"""What the assembler joins (loads, stores) and fuses (products with sums): predictions against the machine code it writes."""

from collections import Counter

import numpy as np
import pytest

from course_lib import simt, toolchain
from course_lib.simt.host import build, levels

TILE = "__shared__ float a[256]; const int t = threadIdx.x; a[t] = x[t]; a[t + 128] = x[t + 128]; __syncthreads(); "
SHARED = {
    "two of eight": TILE + "y[t] = a[2 * t] + a[2 * t + 1];",
    "no pair": TILE + "y[t] = a[4 * t + 1] + a[4 * t + 2];",
    "a pair and a word": TILE + "y[t] = a[4 * t] + a[4 * t + 1] + a[4 * t + 2];",
    "a word and a pair": TILE + "y[t] = a[4 * t + 1] + a[4 * t + 2] + a[4 * t + 3];",
    "words apart": TILE + "y[t] = a[4 * t] + a[4 * t + 3];",
    "seven words": TILE + "float s = 0; for (int i = 0; i < 7; ++i) s += a[8 * (t & 15) + i]; y[t] = s;",
    "unknown alignment": TILE + "y[t] = a[t] + a[t + 1];",
    "a store between": TILE + "float p = a[4 * t], q = a[4 * t + 1]; a[n] = p; p += a[4 * t + 2] * a[4 * t + 3]; y[t] = p + q;",
    "a branch between": TILE + "float p = a[2 * t]; if (n > t) { y[n] = p; p += a[2 * t + 1]; y[n + 1] = expf(p); } y[t] = p;",
    "both branches": TILE + "float p = a[4 * t]; if (n > t) p += a[4 * t + 1]; else p *= a[4 * t + 2]; y[t] = p;",
    "a loop between": TILE + "float p = a[2 * t];\n#pragma unroll 1\nfor (int i = 0; i < n; ++i) p += x[i] * p;\n"
                             "p += a[2 * t + 1]; y[t] = p;",
    "behind a branch": TILE + "float p = a[2 * t]; if (n > t) { y[n + 1] = p; y[n * 2 + 1] = expf(p); } p += a[2 * t + 1]; y[t] = p;",
    "four stores": TILE + "a[4 * t] = t; a[4 * t + 1] = t * 2; a[4 * t + 2] = t * 3; a[4 * t + 3] = 5; __syncthreads(); y[t] = a[t];",
    "three stores": TILE + "a[4 * t] = t; a[4 * t + 1] = t * 2; a[4 * t + 2] = t * 3; __syncthreads(); y[t] = a[t];",
    "a load between stores": TILE + "a[2 * t] = t; float q = a[n]; a[2 * t + 1] = 5; __syncthreads(); y[t] = a[t] + q;",
    "shorts": "__shared__ short a[256]; const int t = threadIdx.x; a[t] = x[t]; __syncthreads(); y[t] = a[4 * t] + a[4 * t + 1];",
    "doubles": "__shared__ double a[256]; const int t = threadIdx.x; a[t] = x[t]; __syncthreads(); y[t] = a[2 * t] + a[2 * t + 1];",
    "volatile": TILE.replace("float", "volatile float") + "y[t] = a[2 * t] + a[2 * t + 1];",
}
ALIGNED = TILE + """
unsigned r;
asm volatile("{ .reg .b32 x, z; shl.b32 x, %1, 3; and.b32 z, %2, -8; HOW.b32 %0, x, z; }" : "=r"(r) : "r"(t), "r"(n));
const unsigned at = (unsigned)__cvta_generic_to_shared(a) + r;
asm volatile("st.shared.u32 [%0], %1; st.shared.u32 [%0+4], %1;" :: "r"(at), "r"(t) : "memory");
__syncthreads(); y[t] = a[t];
"""
SHARED |= {f"two stores, {how}": ALIGNED.replace("HOW.b32", how) for how in ("add.s32", "sub.s32", "xor.b32", "or.b32")}
GLOBAL = {
    "floats": ("float p = x[0], q = x[1]; y[0] = p + q;", {32: 2}),
    "a float2 tells": ("float2 p = *(const float2*)x; y[0] = p.x + p.y * x[2] - x[3];", {64: 2}),
    "a double tells": ("double p = *(const double*)x; y[0] = p + x[2] * x[3];", {64: 2}),
    "only pairs": ("float2 p = *(const float2*)x; y[0] = p.x + p.y * x[3] - x[4];", {64: 1, 32: 2}),
    "bytes stay": ("const unsigned char* c = (const unsigned char*)x; y[0] = *(const unsigned*)x + c[4] + c[5];", {32: 1, 8: 2}),
}
FUSED = {
    "ab - cd": "y[0] = a * b - c * d;", "ab + cd": "y[0] = a * b + c * d;",
    "kept too": "float p = a * b; y[0] = p + c; y[1] = p - c; y[2] = p;",
    "used twice": "float p = a * b; y[0] = p + c; y[1] = p - c;", "rounded on purpose": "y[0] = __fmul_rn(a, b) - __fmul_rn(c, d);",
    "shared between two": "float p = a * b, q = c * d; y[0] = p - q; y[1] = p + q;",
    "four products": "y[0] = (a * b - c * d) - (a * c - b * d);", "in a chain": "float s = a * b - c * d; y[0] = s * s - s * a;",
    "in another block": "float p = a * b; if (n > 3) { y[5] = n; y[6] = c - p; }",
    "no product at all": "float p = a * 3.0f; y[1] = p; y[0] = p + c;", "double": "double p = a, q = b; y[0] = p * q - c * (double)d;",
}


def source(body):
    return f'extern "C" __global__ void f(const float* x, float* y, int n) {{\n{body}\n}}'


@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in SHARED.items()])
def test_shared_widths_are_the_machine_codes(body):
    kernel = build.build(source(body), "f", block=(32, 1, 1))
    found = Counter((i.base, i.bits) for i in toolchain.sass(kernel.cubin, "f") if i.base in levels.OPCODES)
    ours = Counter()
    for (_, opcode), widths in levels.predict(kernel.program).items():
        ours.update({(opcode, 8 * width): n for width, n in widths.items()})
    assert ours == found


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("body", "widths"), [pytest.param(*case, id=name) for name, case in GLOBAL.items()])
def test_global_widths_are_the_machine_codes(body, widths):
    text = source(body)
    code = toolchain.sass(toolchain.compile_cuda(text), "f")
    assert Counter(i.bits for i in code if i.base == "LDG") == widths
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    counters = simt.launch(text, "f", 1, 1, [x, y, np.int32(1)], workers=1).counters
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == sum(widths.values())


@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in FUSED.items()])
def test_products_are_fused_as_in_the_machine_code(body):
    text = source("const float a = x[0], b = x[1], c = x[2], d = x[3];\n" + body)
    x, y = np.array([1.1, 1.3, 1.7, 1.9], np.float32), np.zeros(8, np.float32)
    report = simt.launch(text, "f", 1, 1, [x, y, np.int32(5)], workers=1)
    code = Counter(i.base for i in toolchain.sass(report.cubin, "f"))
    for opcode in ("FMUL", "FFMA", "FADD", "DMUL", "DFMA", "DADD"):
        assert report.counters[f"smsp__sass_thread_inst_executed_op_{opcode.lower()}_pred_on.sum"] == code[opcode], opcode


def test_the_last_bit_of_a_difference_of_products():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 200)).astype(np.float32)
    text = r'''extern "C" __global__ void f(int n, const float* x, float* y) {
        const int i = threadIdx.x;
        y[i] = x[i] * x[n + i] - x[2 * n + i] * x[3 * n + i];
    }'''
    y = np.zeros(200, np.float32)
    simt.launch(text, "f", 1, 200, [np.int32(200), x, y], workers=1)
    a, b, c, d = x
    product = (c * d).astype(np.longdouble)
    assert (y == (a.astype(np.longdouble) * b - product).astype(np.float32)).all()
    assert (y != a * b - c * d).any()


def test_what_is_the_hardwares_depends_on_the_launch():
    text = r'''extern "C" __global__ void f(int n, const int* x, int* y) {
        int s = 0;
        #pragma unroll 1
        for (int k = 0; k < x[threadIdx.x]; ++k) s += x[k];
        y[threadIdx.x] = s;
    }'''
    name = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    for x, level in ((np.full(32, 3, np.int32), "hardware"), (np.arange(32, dtype=np.int32), "PTX level")):
        report = simt.launch(text, "f", 1, 32, [np.int32(32), x, np.zeros(32, np.int32)], workers=1)
        assert report.level[name] == level
        assert dict(report.level)["smsp__inst_executed.sum"] == "PTX level"
        with pytest.raises(KeyError):
            report.level["no such counter"]
