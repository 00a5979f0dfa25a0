// sgemm_double_buffered.cu -- the next tiles are on their way while this one is multiplied
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      two buffers take turns, one barrier a tile; cp.async brings B past the registers, A is transposed through them
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): TM x TN elements of C per thread
// Shared    8 * BK * (BM+4 + BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are copied float by float
// Lesson    notebooks/15_closing_in.ipynb      Next  sgemm_stages.cu
#ifndef BM            // the launcher passes all seven with -D, or none
#define BM 128
#define BN 128
#define BK 16
#define WM 32
#define WN 64
#define TM 8
#define TN 8
#endif
#define LM (WM / TM)  // lanes of a warp along the rows of its tile
#define LN (WN / TN)  // and along the columns
#define THREADS (32 * (BM / WM) * (BN / WN))
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(LM * TM == WM && LN * TN == WN && LM * LN == 32, "32 thread tiles fill a warp tile");
static_assert(LM % 2 == 0 && LN % 2 == 0, "pairs of lanes lie in both directions");
static_assert(TM % 4 == 0 && TN % 4 == 0 && BK % 4 == 0, "a vector is four floats");
static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread loads as many vectors");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(8 * BK * (BM + 4 + BN) <= 48 * 1024, "two tiles of A and of B share the 48 KiB of static shared memory of a block");

#include "load4.cuh"

// Start to copy `bytes` (4 or 16) to shared memory; of these the first `there` come from `from`, the others are 0.
template <int bytes>
__device__ __forceinline__ void copy_async(float* to, const float* from, int there) {
    const unsigned shared = __cvta_generic_to_shared(to);
    if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(shared), "l"(from), "r"(there));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(shared), "l"(from), "r"(there));
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_double_buffered(int M, int N, int K, float alpha, const float* A, int lda,
                      const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int VA = BM * BK / 4 / THREADS, VB = BK * BN / 4 / THREADS;   // vectors that a thread loads
    __shared__ __align__(16) float As[2][BK][BM + 4];   // transposed, and padded for the stores
    __shared__ __align__(16) float Bs[2][BK][BN];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    // Lanes l and l^1 share a row, l and l^2 a column: then a 128-bit shared load merges its phases two by two.
    const int lane_row = (lane >> 1 & 1) + (lane >> 2) % (LM / 2) * 2;
    const int lane_col = (lane & 1) + (lane >> 2) / (LM / 2) * 2;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int first_row = warp / (BN / WN) * WM + 4 * lane_row;    // four rows; the thread's next four are 4*LM further
    const int first_col = warp % (BN / WN) * WN + 4 * lane_col;    // four columns; the next four are 4*LN further
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float acc[TM][TN] = {};
    float4 next_a[VA];

    const auto fetch = [&](int k0, int s) {    // start to load: A to registers, B to buffer s
        for (int n = 0; n < VB; ++n) {
            const int v = t + n * THREADS, k = v / (BN / 4), j = v % (BN / 4) * 4, col = block_col + j;
            const int left = k0 + k < K ? max(0, min(N - col, 4)) : 0;
            const float* b = left ? &B[(k0 + k) * ldb + col] : B;      // an address that exists
            if (b16) copy_async<16>(&Bs[s][k][j], b, 4 * left);
            else
                for (int i = 0; i < 4; ++i) copy_async<4>(&Bs[s][k][j + i], i < left ? b + i : B, i < left ? 4 : 0);
        }
        for (int n = 0; n < VA; ++n) {
            const int v = t + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4, row = block_row + i;
            next_a[n] = load4(&A[row * lda + k0 + k], row < M ? K - k0 - k : 0, a16);
        }
    };
    const auto finish = [&](int s) {           // A from registers to buffer s; wait until B is there
        for (int n = 0; n < VA; ++n) {
            const int v = t + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4;
            As[s][k][i] = next_a[n].x, As[s][k + 1][i] = next_a[n].y, As[s][k + 2][i] = next_a[n].z, As[s][k + 3][i] = next_a[n].w;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();                       // buffer s is complete, and everyone has read the other one
    };

    fetch(0, 0);
    finish(0);
    for (int k0 = 0, s = 0; k0 < K; k0 += BK, s ^= 1) {
        if (k0 + BK < K) fetch(k0 + BK, s ^ 1);      // under way during the products
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&As[s][k][first_row + i * LM]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&Bs[s][k][first_col + j * LN]);
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        if (k0 + BK < K) finish(s ^ 1);
    }

    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + first_row + i / 4 * 4 * LM + i % 4;
            const int col = block_col + first_col + j / 4 * 4 * LN + j % 4;
            if (row < M && col < N) {
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read
            }
        }
}
