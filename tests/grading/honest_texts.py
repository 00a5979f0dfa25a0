# ruff: noqa: E501 -- lines of kernels stand as they are
"""The texts of `honest_odd`: right kernels in styles that students bring along."""

ARGUMENTS = """(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {"""
OTHER_NAMES = """(const int rows, const int cols, const int depth, float const scale, float const* const __restrict__ left, const int ld_left,
      float const* const __restrict__ right, const int ld_right, float const keep, float* const __restrict__ result, const int ld_result) {"""
STORE = """    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
"""
TILE = "#define BM 16\n#define BN 16\n#define BK 16\n"
HERE = "    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;\n"
FUNCTORS = f"""{TILE}template <int R, int C> struct Tile {{
    float words[R][C];
    template <typename Load> __device__ void fill(int r, int c, const Load& load) {{ words[r][c] = load(r, c); }}
    __device__ float operator()(int r, int c) const {{ return words[r][c]; }}
}};
struct Guarded {{
    const float* p; int rows, cols, ld, r0, c0;
    __device__ float operator()(int r, int c) const {{ return r0 + r < rows && c0 + c < cols ? p[(r0 + r) * ld + c0 + c] : 0.0f; }}
}};
extern "C" __global__ void
tiled{ARGUMENTS}
    __shared__ Tile<BM, BK> a;
    __shared__ Tile<BK, BN> b;
{HERE}    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        a.fill(ty, tx, Guarded{{A, M, K, lda, (int)blockIdx.y * BM, k0}});
        b.fill(ty, tx, Guarded{{B, K, N, ldb, k0, (int)blockIdx.x * BN}});
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < BK; ++k) acc = fmaf(a(ty, k), b(k, tx), acc);
        __syncthreads();
    }}
{STORE}"""
NAMES = f"""{TILE}extern "C" __global__ void
tiled{OTHER_NAMES}
    __shared__ float l[BM][BK], r[BK][BN];
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * BM + y, j = blockIdx.x * BN + x;
    double sum = 0.0, lost = 0.0;                       // Kahan's sum
    for (int first = 0; first < depth; first += BK) {{
        l[y][x] = i < rows && first + x < depth ? __ldg(left + i * ld_left + first + x) : 0.f;
        r[y][x] = j < cols && first + y < depth ? __ldg(right + (first + y) * ld_right + j) : 0.f;
        __syncthreads();
        for (int k = 0; k < BK; ++k) {{
            const double term = (double)l[y][k] * r[k][x] - lost, next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }}
        __syncthreads();
    }}
    if (i >= rows || j >= cols) return;
    result[i * ld_result + j] = (float)(scale * sum) + (keep == 0.f ? 0.f : keep * result[i * ld_result + j]);
}}
"""
RAW_BYTES = f"""{TILE}extern "C" __global__ void
tiled{ARGUMENTS}
    __shared__ __align__(16) unsigned char raw[(BM * BK + BK * BN) * sizeof(float)];
    float* const As = reinterpret_cast<float*>(raw);
    float* const Bs = reinterpret_cast<float*>(raw + BM * BK * sizeof(float));
    const unsigned t = threadIdx.y << 4 | threadIdx.x, low = t & 15u, high = t >> 4;
    const int row = blockIdx.y << 4 | high, col = blockIdx.x << 4 | low;
    float acc = 0.0f;
    int k0 = 0;
again:
    As[t] = row < M && k0 + (int)low < K ? A[row * lda + k0 + low] : 0.0f;
    Bs[t] = col < N && k0 + (int)high < K ? B[(k0 + high) * ldb + col] : 0.0f;
    __syncthreads();
    {{
        const float *a = As + (high << 4), *b = Bs + low;
        const float* const end = a + BK;
        while (a < end) {{ acc += *a++ * *b; b += BN; }}
    }}
    __syncthreads();
    if ((k0 += BK) < K) goto again;
{STORE}"""
APART = f"""{TILE}struct Tiles {{ float a[BM][BK]; float b[BK][BN]; }};
static __device__ __noinline__ float products(const Tiles& tiles, int row, int col) {{
    float sum = 0.0f;
    for (int k = 0; k < BK; ++k) sum += tiles.a[row][k] * tiles.b[k][col];
    return sum;
}}
extern "C" __global__ void
tiled{ARGUMENTS}
    __shared__ Tiles tiles;
{HERE}    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        tiles.a[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        tiles.b[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();
        acc += products(tiles, ty, tx);
        __syncthreads();
    }}
{STORE}"""
SHARED_WORK = f"""{TILE}extern "C" __global__ void
tiled{ARGUMENTS}
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int t = threadIdx.y * BN + threadIdx.x, top = blockIdx.y * BM, left = blockIdx.x * BN;
    const int r = t % 128 / BN, col = left + t % BN;                    // four warps load, the other four multiply, two rows each
    float acc[2] = {{}};
    for (int k0 = 0; k0 < K; k0 += BK) {{
        for (int e = t; t < 128 && e < 256; e += 128) {{
            As[e / BK][e % BK] = top + e / BK < M && k0 + e % BK < K ? A[(top + e / BK) * lda + k0 + e % BK] : 0.0f;
            Bs[e / BN][e % BN] = k0 + e / BN < K && left + e % BN < N ? B[(k0 + e / BN) * ldb + left + e % BN] : 0.0f;
        }}
        __syncthreads();
        for (int k = 0; t >= 128 && k < BK; ++k)
            for (int i = 0; i < 2; ++i) acc[i] += As[r + 8 * i][k] * Bs[k][t % BN];
        __syncthreads();
    }}
    for (int i = 0; t >= 128 && i < 2; ++i)
        if (const int row = top + r + 8 * i; row < M && col < N)
            C[row * ldc + col] = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}}
"""
MASKS = f"""{TILE}#define EACH(i, n) for (int i = 0; i < (n); ++i)
extern "C" __global__ void
transposed_a{ARGUMENTS}
    __shared__ float As[BK][BM], Bs[BK][BN];
{HERE}    const int left = blockIdx.y * BM + tx;
    float acc = 0.0f;
    EACH(tile, (K + BK - 1) / BK) {{
        const int k = tile * BK + ty, there = min(k, K - 1);            // an index that exists, times 0 where it should not
        As[ty][tx] = A[there * lda + min(left, M - 1)] * (float)(k < K && left < M);
        Bs[ty][tx] = B[there * ldb + min(col, N - 1)] * (float)(k < K && col < N);
        __syncthreads();
        EACH(i, BK) acc += As[i][ty] * Bs[i][tx];
        __syncthreads();
    }}
{STORE}"""
SWIZZLED = f"""{TILE}extern "C" __global__ void
transposed_b{ARGUMENTS}
    __shared__ float As[BM][BK], Bs[BN][BK];                            // B's tile: column k of row n lies at k ^ n
{HERE}    const auto element = [](const float* p, int ld, int i, int j, int rows, int cols) {{ return i < rows && j < cols ? p[i * ld + j] : 0.0f; }};
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        As[ty][tx] = element(A, lda, row, k0 + tx, M, K);
        Bs[ty][tx ^ ty] = element(B, ldb, blockIdx.x * BN + ty, k0 + tx, N, K);
        __syncthreads();
        for (int k = BK; k--;) acc += As[ty][k] * Bs[tx][k ^ tx];
        __syncthreads();
    }}
{STORE}"""
UNION = f"""{TILE}union Four {{ float4 all; float each[4]; }};
extern "C" __global__ void
wide{ARGUMENTS}
    __shared__ Four tiles[2][16][4];
{HERE}    float acc = 0.0f;
    const int t = ty * BN + tx;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        if (t < 128) {{
            const bool of_b = t >= 64;
            const int i = t % 64 / 4, j = t % 4, r = of_b ? k0 + i : (int)blockIdx.y * BM + i, c = (of_b ? (int)blockIdx.x * BN : k0) + 4 * j;
            const int rows = of_b ? K : M, cols = of_b ? N : K;
            const float* const p = (of_b ? B : A) + (long long)r * (of_b ? ldb : lda) + c;
            Four four = {{}};
            if (r < rows && c + 4 <= cols && ((unsigned long long)p & 15) == 0) four.all = __ldg((const float4*)p);
            else for (int e = 0; e < 4; ++e) four.each[e] = r < rows && c + e < cols ? p[e] : 0.0f;
            tiles[of_b][i][j] = four;
        }}
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) acc += tiles[0][ty][k / 4].each[k % 4] * tiles[1][k][tx / 4].each[tx % 4];
        __syncthreads();
    }}
{STORE}"""
BY_HAND = f"""{TILE}extern "C" __global__ void
unrolled{ARGUMENTS}
    __shared__ float As[BM][BK], Bs[BK][BN];
{HERE}    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();
#define ONE(k) acc += As[ty][k] * Bs[k][tx];
#define FOUR(k) ONE(k) ONE(k + 1) ONE(k + 2) ONE(k + 3)
        FOUR(0) FOUR(4) FOUR(8) FOUR(12)
        __syncthreads();
    }}
{STORE}"""
TWO_BUFFERS_08 = f"""#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
struct Registers {{ float x[4]; }};
extern "C" __global__ void
blocked{ARGUMENTS}
    __shared__ float tiles[2][BM * BK + BK * BN];                       // double buffering, though one buffer would do
    const int t = threadIdx.y * 16 + threadIdx.x, top = blockIdx.y * BM, left = blockIdx.x * BN;
    float2 acc[4][2] = {{}};
    for (int k0 = 0, now = 0; k0 < K; k0 += BK, now = 1 - now) {{
        float *a = tiles[now], *b = a + BM * BK;
        for (int e = t; e < BM * BK; e += 256) a[e] = top + e / BK < M && k0 + e % BK < K ? A[(top + e / BK) * lda + k0 + e % BK] : 0.0f;
        for (int e = t; e < BK * BN; e += 256) b[e] = k0 + e / BN < K && left + e % BN < N ? B[(k0 + e / BN) * ldb + left + e % BN] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {{
            Registers y, x;
#pragma unroll
            for (int i = 0; i < 4; ++i) y.x[i] = a[(threadIdx.y + 16 * i) * BK + k], x.x[i] = b[k * BN + threadIdx.x + 16 * i];
#pragma unroll
            for (int j = 0; j < 4; ++j)                                 // columns outside, rows inside
#pragma unroll
                for (int i = 0; i < 4; ++i) (j & 1 ? acc[i][j / 2].y : acc[i][j / 2].x) += y.x[i] * x.x[j];
        }}
    }}
#pragma unroll
    for (int s = 0; s < 16; ++s) {{
        const int i = s / 4, j = s % 4, row = top + threadIdx.y + 16 * i, col = left + threadIdx.x + 16 * j;
        float sum = j & 1 ? acc[i][j / 2].y : acc[i][j / 2].x;
        asm volatile("mov.f32 %0, %0;" : "+f"(sum));
        if (row < M && col < N) C[row * ldc + col] = beta == 0.0f ? alpha * sum : fmaf(beta, C[row * ldc + col], alpha * sum);
    }}
}}
"""
GROUPS = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE 32
#define ROWS 8
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    __shared__ float tiles[2][TILE][TILE + 1];
    const cg::thread_block block = cg::this_thread_block();
    const int lane = block.thread_index().x, first = block.thread_index().y;
    const int up = block.group_index().y * TILE, left = block.group_index().x * TILE, sides = up == left ? 1 : 2;
    if (up > left) return;                                             // the blocks above the diagonal work
    for (int side = 0; side < sides; ++side)
        for (int i = first; i < TILE; i += ROWS)
            if (const int r = (side ? left : up) + i, c = (side ? up : left) + lane; r < n && c < n) tiles[side][i][lane] = A[r * lda + c];
    block.sync();
    for (int side = 0; side < sides; ++side)
        for (int i = first; i < TILE; i += ROWS)
            if (const int r = (side ? left : up) + i, c = (side ? up : left) + lane; r < n && c < n) A[r * lda + c] = tiles[sides - 1 - side][lane][i];
}
"""
BY_SHUFFLES = """#define TILE 32
#define ROWS 4
extern "C" __global__ void
row_sums(int rows, int cols, const float* in, int ld_in, float* sums) {
    for (int i = threadIdx.y; i < TILE; i += ROWS) {                   // a warp for each row; a tile of no elements
        const int row = blockIdx.x * TILE + i;
        if (row >= rows) return;
        double sum = 0.0;
        for (int col = threadIdx.x; col < cols; col += 32) sum += in[row * ld_in + col];
        for (int apart = 16; apart; apart >>= 1) sum += __shfl_xor_sync(~0u, sum, apart);
        if (threadIdx.x == 0) sums[row] = (float)sum;
    }
}
"""
XOR_13 = """#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
static __device__ __noinline__ float at(const float* words, int place) { return words[place]; }
static __device__ int place(int h, int c) { return h * N + (c ^ (h >> 1 & 15)); }         // two vectors fill the banks; the next two another way
extern "C" __global__ void
mxv_free(const int count, const float* const __restrict__ from, float* __restrict__ to) {
    __shared__ float words[THREADS * N];
    const int t = threadIdx.x, first = blockIdx.x * THREADS, here = min(THREADS, count - first);
    for (int v = t; v < here * N; v += THREADS) words[place(v / N, v % N)] = from[first * N + v];
    __syncthreads();
    float y[M] = {};
    if (t < here) {
#pragma unroll
        for (int c = 0; c < N; ++c) {
            const float x = at(words, place(t, c));
#pragma unroll
            for (int r = 0; r < M; ++r) y[r] = fmaf(matrix[r][c], x, y[r]);
        }
#pragma unroll
        for (int r = 0; r < M; ++r) words[place(t, r)] = y[r];
    }
    __syncthreads();
    for (int v = t; v < here * M; v += THREADS) to[first * M + v] = words[place(v / M, v % M)];
}
"""
LANES_FAR = f"""#define BM 8
#define BN 16
struct Place {{ int row, col; }};
static __device__ __noinline__ Place place(int t) {{ return {{(int)blockIdx.y * BM + (t & 7), (int)blockIdx.x * BN + (t >> 3)}}; }}
extern "C" __global__ void
lanes{ARGUMENTS}
    const Place here = place(threadIdx.x);
    if (!(here.row < M)) return;
    if (!(here.col < N)) return;
    float part[2] = {{0.0f, 0.0f}};
    const float *a = A + here.row, *b = B + here.col;
    for (int k = 0; k < K; ++k, a += lda, b += ldb) part[k & 1] += *a * *b;     // even and odd k apart
    float* const c = C + here.row * ldc + here.col;
    *c = alpha * (part[0] + part[1]) + (beta != 0.0f ? beta * *c : 0.0f);
}}
"""
