"""Right kernels of exercises 03 to 08 that look unlike the worked ones, and pass: what a bound must not refuse."""

from collections.abc import Callable
from dataclasses import dataclass

from answer_files import patched
from fooling_03_08 import patch, text
from fooling_texts import ARGUMENTS, STORE


@dataclass(frozen=True)
class Honest:
    """One kernel; `answer`: (starter, solution) -> text."""

    exercise: str
    part: str
    answer: Callable[[str, str], str]


def crlf(starter: str, solution: str) -> str:
    """Return the solution as an editor of Windows stores it."""
    return solution.replace("\n", "\r\n")


LANES_POINTERS = f"""#define BM 32
#define BN 4
extern "C" __global__ void
lanes{ARGUMENTS}
    const int row = blockIdx.y * BM + threadIdx.x % BM, col = blockIdx.x * BN + threadIdx.x / BM;
    const int r = blockIdx.y * BM + threadIdx.x / 32 * 8 + threadIdx.x % 8, c = blockIdx.x * BN + threadIdx.x % 32 / 8;
    if (r >= M || c >= N || row + col < 0) return;
    const float *a = A + r, *b = B + c;
    double sum = 0.0;
    for (int left = K; left > 0; --left, a += lda, b += ldb) sum += (double)*a * *b;
    const float old = beta == 0.0f ? 0.0f : beta * C[r * ldc + c];
    C[r * ldc + c] = (float)(alpha * sum) + old;
}}
"""
TWO_BUFFERS = f"""#define BM 16
#define BN 32
#define BK 8
extern "C" __global__ void
tiled{ARGUMENTS}
    __shared__ float tiles[2][BM * BK + BK * BN];
    const int t = threadIdx.y * BN + threadIdx.x, row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    float acc = 0.0f;
    for (int k0 = 0, now = 0; k0 < K; k0 += BK, now ^= 1) {{           // the barrier of the next turn protects the other buffer
        float *a = tiles[now], *b = tiles[now] + BM * BK;
        if (t < BM * BK) {{
            const int m = blockIdx.y * BM + t / BK, k = k0 + t % BK;
            a[t] = m < M && k < K ? alpha * A[m * lda + k] : 0.0f;     // alpha once per element of the tile
        }}
        if (t < BK * BN) b[t] = k0 + t / BN < K && blockIdx.x * BN + t % BN < N ? B[(k0 + t / BN) * ldb + blockIdx.x * BN + t % BN] : 0.0f;
        __syncthreads();
        for (int k = BK - 1; k >= 0; --k) acc = __fadd_rn(acc, __fmul_rn(a[threadIdx.y * BK + k], b[k * BN + threadIdx.x]));
    }}
    if (row < M && col < N) C[row * ldc + col] = beta == 0.0f ? acc : acc + beta * C[row * ldc + col];
}}
"""
WIDE_FLAT = f"""#define BM 128
#define BN 32
#define BK 32
#define BX 8
#define BY 32
extern "C" __global__ void
wide{ARGUMENTS}
    __shared__ float As[BM][BK + 1], Bs[BN][BK + 1];                   // B's tile turned: both lie along k
    const int t = threadIdx.y * BX + threadIdx.x, warp = t / 32, lane = t % 32;
    float acc[16] = {{}};
    for (int k0 = 0; k0 < K; k0 += BK) {{
        for (int i = warp; i < BM; i += 8)
            As[i][lane] = blockIdx.y * BM + i < M && k0 + lane < K ? A[(blockIdx.y * BM + i) * lda + k0 + lane] : 0.0f;
        for (int k = warp; k < BK; k += 8)
            Bs[lane][k] = k0 + k < K && blockIdx.x * BN + lane < N ? B[(k0 + k) * ldb + blockIdx.x * BN + lane] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k) {{
            const float b = Bs[lane][k];
#pragma unroll
            for (int i = 0; i < 16; ++i) acc[i] = fmaf(As[warp * 16 + i][k], b, acc[i]);
        }}
        __syncthreads();
    }}
#pragma unroll
    for (int i = 0; i < 16; ++i) {{
        const int row = blockIdx.y * BM + warp * 16 + i, col = blockIdx.x * BN + lane;
        if (row < M && col < N) C[row * ldc + col] = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
    }}
}}
"""
BY_HALVES = f"""#define BM 16
#define BN 16
#define BK 16
extern "C" __global__ void
wide{ARGUMENTS}
    __shared__ float4 tiles[2][16][4];                                 // of A, of B
    const int t = threadIdx.y * 16 + threadIdx.x, which = t / 64, i = t % 64 / 4, j = t % 4 * 4;
    const int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        if (t < 128) {{                                                 // half of these load A's tile, half B's, by one statement
            const int r = which ? k0 + i : blockIdx.y * BM + i, c = which ? blockIdx.x * BN + j : k0 + j;
            const int ld = which ? ldb : lda, left = r < (which ? K : M) ? (which ? N : K) - c : 0;
            const float* p = (which ? B : A) + (long long)r * ld + c;
            float4 got = {{}};
            if (left >= 4 && (size_t)p % 16 == 0) got = *(const float4*)p;
            else for (int e = 0; e < 4 && e < left; ++e) (&got.x)[e] = p[e];
            tiles[which][i][j / 4] = got;
        }}
        __syncthreads();
        const float *a = &tiles[0][threadIdx.y][0].x, *b = &tiles[1][0][0].x + threadIdx.x;
        for (int k = 0; k < BK; ++k) acc += a[k] * b[k * 16];
        __syncthreads();
    }}
{STORE}"""
SWIZZLED = """#define TILE 32
#define ROWS 4
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    __shared__ float tiles[2][TILE * TILE];                            // element (i, j) lies in column i ^ j
    const int lane = threadIdx.x, up = blockIdx.y * TILE, left = blockIdx.x * TILE;
    if (up < left) return;                                             // the blocks below the diagonal work
    for (int side = 0; side < (up == left ? 1 : 2); ++side)
        for (int i = threadIdx.y; i < TILE; i += ROWS) {
            const int r = (side ? left : up) + i, c = (side ? up : left) + lane;
            if (r < n && c < n) tiles[side][i * TILE + (i ^ lane)] = A[r * lda + c];
        }
    __syncthreads();
    for (int side = 0; side < (up == left ? 1 : 2); ++side)
        for (int i = threadIdx.y; i < TILE; i += ROWS) {
            const int r = (side ? left : up) + i, c = (side ? up : left) + lane;
            if (r < n && c < n) A[r * lda + c] = tiles[up == left ? 0 : 1 - side][lane * TILE + (i ^ lane)];
        }
}
"""
FROM_THE_END = f"""#define BM 16
#define BN 32
#define BK 16
extern "C" __global__ void
unrolled{ARGUMENTS}
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int t = threadIdx.y * BN + threadIdx.x, row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    float acc = 0.0f;
    int k0 = (K - 1) / BK * BK;
    do {{                                                               // the last tile first
        const int m = blockIdx.y * BM + t / BK, depth = k0 + t % BK;
        if (t < BM * BK) As[t / BK][t % BK] = m < M && depth < K ? A[m * lda + depth] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * ldb + col] : 0.0f;
        __syncthreads();
        const float *a = As[threadIdx.y], *b = &Bs[0][threadIdx.x];
#pragma unroll 16
        for (const float* end = a + BK; a != end; ++a, b += BN) acc += *a * *b;
        __syncthreads();
    }} while ((k0 -= BK) >= 0);
{STORE}"""
A_DIRECT = f"""#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
extern "C" __global__ void
blocked_at{ARGUMENTS}
    __shared__ float4 Bs[BK][BN / 4];                                  // A's elements come from global memory, once per block, as float4
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, top = blockIdx.y * BM + ty * 4, left = blockIdx.x * BN;
    float acc[4][4] = {{}};
    for (int k0 = 0; k0 < K; k0 += BK) {{
        for (int e = t; e < BK * BN; e += 256)
            (&Bs[0][0].x)[e] = k0 + e / BN < K && left + e % BN < N ? B[(k0 + e / BN) * ldb + left + e % BN] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK && k0 + k < K; ++k) {{
            const float* p = &A[(k0 + k) * lda + top];
            float a[4] = {{}};
            if (top + 4 <= M && (size_t)p % 16 == 0) {{
                const float4 four = *(const float4*)p;
                a[0] = four.x, a[1] = four.y, a[2] = four.z, a[3] = four.w;
            }} else
                for (int i = 0; i < 4; ++i) if (top + i < M) a[i] = p[i];
            const float4 b = Bs[k][tx];
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i][0] += a[i] * b.x, acc[i][1] += a[i] * b.y, acc[i][2] += a[i] * b.z, acc[i][3] += a[i] * b.w;
        }}
        __syncthreads();
    }}
#pragma unroll
    for (int s = 0; s < 16; ++s)
        if (const int row = top + s / 4, col = left + tx * 4 + s % 4; row < M && col < N)
            C[row * ldc + col] = alpha * acc[s / 4][s % 4] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}}
"""
HONEST = {
    "lanes_pointers": Honest("03_first_kernel", "lanes", text(LANES_POINTERS)),
    "stage_turned": Honest("04_tiling", "stage", patch("""-    __shared__ float As[BM][BK];
+    __shared__ float As[BK][BM + 1];
-        As[ty][tx] = A[row * lda + k0 + tx];
+        As[tx][ty] = A[row * lda + k0 + tx];
-            acc += As[ty][k] * B[(k0 + k) * ldb + col];
+            acc += As[k][ty] * B[(k0 + k) * ldb + col];
""")),
    "tile_two_buffers": Honest("04_tiling", "tile", text(TWO_BUFFERS)),
    "tile_at_crlf": Honest("04_tiling", "tile-b", crlf),
    "wide_flat": Honest("04_tiling", "wide", text(WIDE_FLAT)),
    "transposed_a_crlf": Honest("05_coalescing", "main", crlf),
    "transposed_b_padded": Honest("05_coalescing", "main-b", patch("""-    __shared__ float As[BM][BK], Bs[BN][BK];
+    __shared__ float As[BM][BK + 2], Bs[BN][BK + 1];
-            acc += As[ty][k] * Bs[tx][k];
+            acc += alpha * As[ty][k] * Bs[tx][k];
-        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
+        *c = acc + (beta == 0.0f ? 0.0f : beta * *c);
""")),
    "wide_by_halves": Honest("05_coalescing", "wide", text(BY_HALVES)),
    "swap_swizzled": Honest("06_bank_conflicts", "swap", text(SWIZZLED)),
    "symmetrised_crlf": Honest("06_bank_conflicts", "swap-b", crlf),
    "sums_backwards": Honest("06_bank_conflicts", "sums", patch("""-            for (int k = 0; k < TILE; ++k)
-                sum += tile[tx][(tx + k) % TILE];
+            for (int k = TILE; k-- > 0;)
+                sum += tile[tx][(tx ^ k)];
""")),
    "unrolled_from_the_end": Honest("07_unrolling", "main", text(FROM_THE_END)),
    "unrolled_at_crlf": Honest("07_unrolling", "main-b", crlf),
    "outputs_of_eight": Honest("07_unrolling", "outputs", lambda starter, solution: patched(
        solution.replace("#define BM 64", "#define BM 128").replace("#define TM 4", "#define TM 8") + "\n", "")),
    "blocked_eight": Honest("08_register_blocking", "main", lambda starter, solution: solution.replace(
        "#define TM 4", "#define TM 8").replace("#define TN 4", "#define TN 2").replace("#define BK 16", "#define BK 32")),
    "blocked_a_direct": Honest("08_register_blocking", "main-b", text(A_DIRECT)),
    "wide_crlf": Honest("08_register_blocking", "wide", crlf),
}
