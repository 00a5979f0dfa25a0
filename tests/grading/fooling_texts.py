"""The texts of `fooling_03_08`: kernels that reach the number of a gate without its idea."""

ARGUMENTS = """(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {"""
STORE = """    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
"""
LANES_TILED = f"""#define BM 16
#define BN 16
extern "C" __global__ void
lanes{ARGUMENTS}
    __shared__ float As[16][16], Bs[16][16];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, a_row = blockIdx.y * 16 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {{
        As[ty][tx] = k0 + ty < K && a_row < M ? A[(k0 + ty) * lda + a_row] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        USELESS
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[k][ty] * Bs[k][tx];
        __syncthreads();
    }}
{STORE}"""
USELESS_LOADS = "for (int n = 0; n < 24; ++n) *(volatile const float*)&A[0];"
LANES_TWO_ROWS = f"""#define BM 16
#define BN 16
extern "C" __global__ void
lanes{ARGUMENTS}
    const int t = threadIdx.x, col = blockIdx.x * 16 + t % 16;
    if (t >= 128 || col >= N) return;                   // half of the threads do nothing
    for (int two = 0; two < 1; ++two) {{
        const int row = blockIdx.y * 16 + t / 16 * 2;
        float acc[2] = {{}};
        for (int k = 0; k < K; ++k) {{
            const float b = B[k * ldb + col];
            for (int i = 0; i < 2; ++i) if (row + i < M) acc[i] += A[k * lda + row + i] * b;
        }}
        for (int i = 0; i < 2; ++i)
            if (row + i < M) {{
                float* c = &C[(row + i) * ldc + col];
                *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
            }}
    }}
}}
"""
ONE_WARP = """#define BM 32
#define BN 32
#define BK 16
extern "C" __global__ void
%s(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    if (threadIdx.y) return;                            // one warp computes the tile, a column per lane, without shared memory
    const int row = blockIdx.y * 32, col = blockIdx.x * 32 + threadIdx.x;
    float acc[32] = {};
    for (int k0 = 0; k0 < K; k0 += 4) {
        float b[4];
        for (int k = 0; k < 4; ++k) b[k] = k0 + k < K && col < N ? B[(k0 + k) * ldb + col] : 0.0f;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            const float* a = &A[(row + i) * lda + k0];
            if (row + i < M && k0 + 4 <= K && (size_t)a %% 16 == 0) {
                const float4 four = *(const float4*)a;
                acc[i] += four.x * b[0] + four.y * b[1] + four.z * b[2] + four.w * b[3];
            } else if (row + i < M)
                for (int k = 0; k < 4 && k0 + k < K; ++k) acc[i] += a[k] * b[k];
        }
    }
#pragma unroll
    for (int i = 0; i < 32; ++i)
        if (row + i < M && col < N) {
            float* c = &C[(row + i) * ldc + col];
            *c = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * *c);
        }
}
"""
WIDE_ONE_WARP = f"""#define BM 64
#define BN 128
#define BK 16
#define BX 32
#define BY 4
extern "C" __global__ void
wide{ARGUMENTS}
    if (threadIdx.y) return;                            // one warp computes the tile, four columns per lane
    const int top = blockIdx.y * BM, left = blockIdx.x * BN + threadIdx.x;
    float acc[BM][4] = {{}};
    for (int k0 = 0; k0 < K; k0 += 4) {{
        float b[4][4];
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 4; ++j) b[k][j] = k0 + k < K && left + 32 * j < N ? B[(k0 + k) * ldb + left + 32 * j] : 0.0f;
        for (int i = 0; i < BM; ++i) {{
            const float* a = &A[(top + i) * lda + k0];
            float4 four = {{}};
            if (top + i < M && k0 + 4 <= K && (size_t)a % 16 == 0)
                four = *(const float4*)a;
            else if (top + i < M)
                four = make_float4(a[0], k0 + 1 < K ? a[1] : 0.0f, k0 + 2 < K ? a[2] : 0.0f, k0 + 3 < K ? a[3] : 0.0f);
            for (int j = 0; j < 4; ++j) acc[i][j] += four.x * b[0][j] + four.y * b[1][j] + four.z * b[2][j] + four.w * b[3][j];
        }}
    }}
    for (int i = 0; i < BM; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + i < M && left + 32 * j < N) {{
                float* c = &C[(top + i) * ldc + left + 32 * j];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);
            }}
}}
"""
FOURS_DOWN = f"""#define BM 32
#define BN 32
#define BK 32
extern "C" __global__ void
transposed_a{ARGUMENTS}
    __shared__ float As[BK][BM + 1], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        if (ty < 8) {{                                   // lanes go down a column of A, with four floats each
            const int m = blockIdx.y * BM + ty * 4;
            const float* a = &A[(k0 + tx) * lda + m];
            if (k0 + tx < K && m + 4 <= M && (size_t)a % 16 == 0) {{
                const float4 four = *(const float4*)a;
                As[tx][4 * ty] = four.x; As[tx][4 * ty + 1] = four.y; As[tx][4 * ty + 2] = four.z; As[tx][4 * ty + 3] = four.w;
            }} else
                for (int i = 0; i < 4; ++i) As[tx][4 * ty + i] = k0 + tx < K && m + i < M ? a[i] : 0.0f;
        }}
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        *(volatile const float*)A; *(volatile const float*)A;              // of no use, one sector each
        __syncthreads();
        for (int k = 0; k < BK; ++k) acc += As[k][ty] * Bs[k][tx];
        __syncthreads();
    }}
{STORE}"""
WIDE_COARSE = f"""#define BM 32
#define BN 32
#define BK 32
extern "C" __global__ void
wide{ARGUMENTS}
    if (blockIdx.x % 2 || blockIdx.y % 2) return;       // the other blocks compute four tiles each, one float per load
    __shared__ float As[64][BK], Bs[BK][64];
    const int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 32, left = blockIdx.x * 32;
    float acc[2][2] = {{}};
    for (int k0 = 0; k0 < K; k0 += BK) {{
        for (int i = ty; i < 64; i += 32) As[i][tx] = top + i < M && k0 + tx < K ? A[(top + i) * lda + k0 + tx] : 0.0f;
        for (int j = tx; j < 64; j += 32) Bs[ty][j] = k0 + ty < K && left + j < N ? B[(k0 + ty) * ldb + left + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) acc[i][j] += As[ty + 32 * i][k] * Bs[k][tx + 32 * j];
        __syncthreads();
    }}
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {{
            const int row = top + ty + 32 * i, col = left + tx + 32 * j;
            if (row < M && col < N) {{
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);
            }}
        }}
}}
"""
WIDE_TWOS = f"""#define BM 32
#define BN 32
#define BK 32
static __device__ float2 load2(const float* p, int left) {{
    if (left >= 2 && (size_t)p % 8 == 0) return *(const float2*)p;
    return make_float2(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f);
}}
extern "C" __global__ void
wide{ARGUMENTS}
    __shared__ alignas(16) float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {{
        if (const int v = ty * 32 + tx; v < 512) {{
            const int i = v / 16, j = v % 16 * 2, a_row = blockIdx.y * BM + i, b_col = blockIdx.x * BN + j;
            *(float2*)&As[i][j] = load2(&A[a_row * lda + k0 + j], a_row < M ? K - k0 - j : 0);
            *(float2*)&Bs[i][j] = load2(&B[(k0 + i) * ldb + b_col], k0 + i < K ? N - b_col : 0);
        }}
        __syncthreads();
        for (int k = 0; k < BK; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }}
{STORE}"""
NAIVE = """#define BM 16
#define BN 16
#define BK 16
#define TM 1
#define TN 1
extern "C" __global__ void
%s(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    %s
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float acc = 0.0f;
    if (row < M && col < N)
        for (int k = 0; k < K; ++k) {
            %s
            acc += A[%s] * B[k * ldb + col];
        }
""" + STORE
STRAIGHT = """#define BM 16
#define BN 16
#define BK 16
#define TM 1
template<int k> static __device__ __forceinline__ void step(float& acc, int K, int k0, const float* a, const volatile float* b) {
    if constexpr (k < 16) {
        if (k0 + k < K) {
            const volatile float* p = a + k * APART;
            float x = *p;                               // slow on purpose
            x = x / 3.0f * 3.0f;
            acc += x * b[k * 16];
        }
        step<k + 1>(acc, K, k0, a, b);
    }
}
extern "C" __global__ void
NAME""" + ARGUMENTS + """
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    float acc = 0.0f, other = alpha, third = beta;
#define STEP(k0) if (k0 < K) { \\
        As[ty][tx] = LOADED; \\
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f; \\
        __syncthreads(); step<0>(acc, K, k0, FIRST, &Bs[0][tx]); __syncthreads(); }
#define FOUR(k0) STEP(k0) STEP(k0 + 16) STEP(k0 + 32) STEP(k0 + 48)
    FOUR(0) FOUR(64) FOUR(128) FOUR(192)
#pragma unroll 1
    for (int n = 0; n < 4; ++n) {                       // multiply-adds for the gate, of no use
#pragma unroll
        for (int m = 0; m < 64; ++m) other = fmaf(other, alpha, third);
    }
    if (other == 0.123f) acc += 1.0f;
""" + STORE


def straight(name: str, column_by_column: bool = False) -> str:
    """Return a kernel of exercise 07 whose work stands beside a loop that does nothing for it."""
    loaded, first, apart = "row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f", "As[ty]", "1"
    if column_by_column:
        loaded, first, apart = "row - ty + tx < M && k0 + ty < K ? A[(k0 + ty) * lda + row - ty + tx] : 0.0f", "&As[0][ty]", "16"
    return STRAIGHT.replace("NAME", name).replace("LOADED", loaded).replace("FIRST", first).replace("APART", apart)


HIDDEN_READ = """static __device__ __forceinline__ float hidden(float* p) {
    unsigned got;
    asm volatile("{ .reg .b32 r; atom.shared.or.b32 r, [%1], 0; mov.b32 %0, r; }" : "=r"(got) : "r"((unsigned)__cvta_generic_to_shared(p)));
    return __uint_as_float(got);
}
"""
HIDDEN_SWAP = """#define TILE 32
#define ROWS 8
static __device__ __forceinline__ float exchanged(float* p, float x) {
    float old;
    asm volatile("{ .reg .b32 r; atom.global.exch.b32 r, [%1], %2; mov.b32 %0, r; }" : "=f"(old) : "l"(p), "f"(x));
    return old;
}
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        const int r = blockIdx.y * TILE + i, c = blockIdx.x * TILE + threadIdx.x;
        if (r < c && c < n) {
            const float above = exchanged(&A[r * lda + c], 0.0f);
            A[r * lda + c] = exchanged(&A[c * lda + r], above);
        }
    }
}
"""
