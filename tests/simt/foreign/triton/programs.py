"""A dozen kernels in Triton; `make.py` turns each into PTX text for sm_80.

KERNELS: a kernel's function, the types of its run-time arguments, its compile-time constants, and options of the compiler.
"""

import triton
import triton.language as tl

KERNELS = {}


def kernel(name, types, constants, **options):
    """Register a kernel, or one more variant of it."""
    def keep(function):
        KERNELS[name] = (function, types.split(), constants, options)
        return function
    return keep


@kernel("saxpy", "*fp32 *fp32 i32 fp32", {"BLOCK": 1024})
@triton.jit
def saxpy(x, y, n, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, a * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@kernel("relu_bf16", "*bf16 *bf16 i32", {"BLOCK": 512})
@triton.jit
def relu_bf16(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, eviction_policy="evict_first").to(tl.float32)
    tl.store(y + at, tl.where(v > 0, v, 0.01 * v).to(tl.bfloat16), mask=at < n)


@kernel("stencil", "*fp64 *fp64 i32 i32", {"BLOCK": 128})
@triton.jit
def stencil(x, y, rows, cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (row > 0) & (row < rows - 1) & (col > 0) & (col < cols - 1)
    at = x + row * cols + col
    around = tl.load(at - cols, mask=inside, other=0) + tl.load(at + cols, mask=inside, other=0)
    around += tl.load(at - 1, mask=inside, other=0) + tl.load(at + 1, mask=inside, other=0)
    tl.store(y + row * cols + col, 0.25 * around, mask=inside)


@kernel("transpose", "*fp32 *fp32 i32 i32", {"BLOCK": 32})
@triton.jit
def transpose(x, y, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + row[:, None] * cols + col[None, :], mask=(row[:, None] < rows) & (col[None, :] < cols))
    tl.store(y + col[:, None] * rows + row[None, :], tile.T, mask=(col[:, None] < cols) & (row[None, :] < rows))


@kernel("reduction", "*fp32 *fp32 i32", {"BLOCK": 1024})
@triton.jit
def reduction(x, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))


@kernel("histogram", "*i32 *i32 i32", {"BLOCK": 256, "BINS": 64})
@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(values, BINS, mask=at < n))


@kernel("softmax", "*fp32 *fp32 i32 i32", {"BLOCK": 256})
@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


@kernel("scan", "*i64 *i64 i32", {"BLOCK": 512})
@triton.jit
def scan(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0), axis=0), mask=at < n)


@kernel("mandelbrot", "*i32 i32 i32 i32 fp32 fp32", {"BLOCK": 128})
@triton.jit
def mandelbrot(steps, width, height, most, left, step, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cx, cy = left + (at % width).to(tl.float32) * step, left + (at // width).to(tl.float32) * step
    zx, zy, n = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.int32)
    for _ in range(most):
        inside = zx * zx + zy * zy <= 4.0
        n += inside.to(tl.int32)
        zx, zy = tl.where(inside, zx * zx - zy * zy + cx, zx), tl.where(inside, 2.0 * zx * zy + cy, zy)
    tl.store(steps + at, n, mask=at < width * height)


@kernel("argmax", "*fp16 *i32 i32", {"BLOCK": 1024})
@triton.jit
def argmax(x, where, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    tl.store(where + row, tl.argmax(v, axis=0))


@kernel("layernorm", "*fp16 *fp16 *fp16 *fp16 i32 fp32", {"BLOCK": 512})
@triton.jit
def layernorm(x, gain, bias, y, n, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * n + at, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(inside, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, axis=0) / n + eps)
    g = tl.load(gain + at, mask=inside, eviction_policy="evict_last")
    tl.store(y + row * n + at, (d * scale * g + tl.load(bias + at, mask=inside)).to(tl.float16), mask=inside)


@kernel("matmul_f16", "*fp16 *fp16 *fp32 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 32}, num_stages=3)
@kernel("matmul_bf16", "*bf16 *bf16 *fp32 i32 i32 i32", {"BM": 32, "BN": 64, "BK": 32}, num_stages=2)
@kernel("matmul_tf32", "*fp32 *fp32 *fp32 i32 i32 i32", {"BM": 32, "BN": 32, "BK": 32}, num_stages=3)
@kernel("matmul_f64", "*fp64 *fp64 *fp64 i32 i32 i32", {"BM": 32, "BN": 32, "BK": 16}, num_stages=1)
@kernel("matmul_i8", "*i8 *i8 *i32 i32 i32 i32", {"BM": 32, "BN": 32, "BK": 32}, num_stages=2)
@triton.jit
def matmul(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], C.dtype.element_ty)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(A + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(B + k[:, None] * N + col[None, :], mask=(k[:, None] < K) & (col[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=C.dtype.element_ty)
    tl.store(C + row[:, None] * N + col[None, :], acc, mask=(row[:, None] < M) & (col[None, :] < N))


@kernel("conv", "*fp32 *fp32 *fp32 i32 i32", {"BLOCK": 256})
@triton.jit
def conv(x, w, y, rows, cols, BLOCK: tl.constexpr):
    row, col = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            acc += tl.load(w + 3 * i + j) * tl.load(x + (row + i) * cols + col + j, mask=col < cols - 2, other=0.0)
    tl.store(y + row * (cols - 2) + col, acc, mask=col < cols - 2)


@kernel("attention", "*fp16 *fp16 *fp16 *fp16 i32 fp32", {"BM": 32, "BN": 32, "D": 64}, num_stages=2)
@triton.jit
def attention(Q, K, V, out, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(Q + row[:, None] * D + d[None, :], mask=row[:, None] < n, other=0)
    top, total = tl.full([BM], -float("inf"), tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for j0 in range(0, n, BN):
        j = j0 + tl.arange(0, BN)
        k = tl.load(K + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0)
        s = tl.where(j[None, :] < n, tl.dot(q, k) * scale, -float("inf"))
        above = tl.maximum(top, tl.max(s, axis=1))
        p, shrink = tl.exp(s - above[:, None]), tl.exp(top - above)
        v = tl.load(V + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0)
        acc = tl.dot(p.to(tl.float16), v, acc * shrink[:, None])
        total, top = total * shrink + tl.sum(p, axis=1), above
    tl.store(out + row[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16), mask=row[:, None] < n)


@kernel("sort", "*i32 *i32 i32", {"BLOCK": 256})
@triton.jit
def sort(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.sort(tl.load(x + at, mask=at < n, other=2147483647)), mask=at < n)


@kernel("random", "*fp32 *i32 i32 i32", {"BLOCK": 256})
@triton.jit
def random(uniform, mixed, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(uniform + at, tl.rand(seed, at), mask=at < n)
    old = tl.atomic_cas(mixed + at % 8, tl.zeros([BLOCK], tl.int32), at + 1)
    tl.atomic_max(mixed + 8 + at * 0, tl.where(old == 0, at, -1), mask=at < n)


@kernel("fp8", "*fp16 *fp8e5 *fp16 i32", {"BLOCK": 256})
@triton.jit
def fp8(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    small = tl.load(x + at, mask=at < n).to(tl.float8e5)
    tl.store(y + at, small, mask=at < n)
    tl.store(z + at, small.to(tl.float16), mask=at < n)


@kernel("assembly", "*i32 *i32", {"BLOCK": 256})
@triton.jit
def assembly(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    text: tl.constexpr = "{ .reg .b32 t<2>; shl.b32 t0, $1, 3; lop3.b32 t1, t0, $1, 0, 0x3c; prmt.b32 $0, t1, t1, 0x0123; }"
    tl.store(y + at, tl.inline_asm_elementwise(text, "=r,r", [tl.load(x + at)], dtype=tl.int32, is_pure=True, pack=1))


@kernel("prints", "*i32 i32", {"BLOCK": 64}, num_warps=2)
@triton.jit
def prints(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x + at, mask=at < n, other=0))


@kernel("asserts", "*i32 i32", {"BLOCK": 64}, num_warps=2, debug=True)
@triton.jit
def asserts(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + at, mask=at < n, other=0) >= 0, "negative")


@kernel("atomics", "*bf16 *fp16 *fp64 *i64 *i32 i32", {"BLOCK": 256})
@triton.jit
def atomics(a, b, c, d, e, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.atomic_add(a + at % 32, 1.0, mask=inside)
    tl.atomic_add(b + at // 8, tl.full([BLOCK], 0.5, tl.float16), mask=inside)
    tl.atomic_add(c + at % 4, 0.25, mask=inside, sem="relaxed")
    tl.atomic_max(d + at % 4, at.to(tl.int64) * 7, mask=inside, scope="cta")
    tl.atomic_xchg(e + at, at, mask=inside, sem="release")
    tl.atomic_and(e + 1000 + at % 3, ~at, mask=inside)
    tl.atomic_xor(e + 1003 + at % 3, at, mask=inside)


@kernel("locked", "*i32 *fp32 *fp32", {"BLOCK": 128})
@triton.jit
def locked(lock, x, total, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mine = tl.load(x + tl.program_id(0) * BLOCK + at)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + at, tl.load(total + at) + mine)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel("normalise", "*fp32 *fp32 i32 i32", {"BLOCK": 128})
@triton.jit
def normalise(x, y, rows, cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        at = tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + at, mask=at < cols, other=0.0)
        tl.store(y + row * cols + at, v / (1 + tl.sqrt(tl.sum(v * v))), mask=at < cols)


@triton.jit
def after(a, b, c, d):
    return a * c, b * c + d


@kernel("recurrence", "*fp32 *fp32 *fp32", {"R": 4, "BLOCK": 128}, num_warps=8)
@triton.jit
def recurrence(x, y, z, R: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, R)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    a, b = tl.associative_scan((tl.load(x + at), tl.load(y + at)), 1, after)
    tl.store(z + at, a + b)


@kernel("batched", "*bf16 *bf16 *fp32", {"B": 32})
@triton.jit
def batched(a, b, c, B: tl.constexpr):
    at = tl.arange(0, 4)[:, None, None] * B * B + tl.arange(0, B)[None, :, None] * B + tl.arange(0, B)[None, None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
