// sgemm_prefetched.cu -- the next tiles wait in registers while these are multiplied
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      sgemm_vectorized.cu, but a thread asks for its part of the next tiles before it multiplies, and stores it afterwards
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (BM/TM * BN/TN): TM x TN elements of C per thread
// Shared    4 * BK * (BM+4 + BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; rows that are not 16-byte aligned are read float by float
// Lesson    notebooks/15_closing_in.ipynb      Next  sgemm_warp_tile.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#endif
#define THREADS (BM / TM * (BN / TN))
static_assert(BM % TM == 0 && BN % TN == 0, "thread tiles fill the block tile");
static_assert(TM % 4 == 0 && TN % 4 == 0 && BK % 4 == 0, "a vector is four floats");
static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread loads as many vectors");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(TM * TN <= 128, "a thread keeps its TM*TN sums in registers, of which it has 255");
static_assert(BM * BN <= 32768, "the sums of a block fill at most half of the 65536 registers it can have");
static_assert(4 * BK * (BM + 4 + BN) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

#include "load4.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_prefetched(int M, int N, int K, float alpha, const float* A, int lda,
                 const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int VA = BM * BK / 4 / THREADS, VB = BK * BN / 4 / THREADS;   // vectors that a thread loads
    __shared__ __align__(16) float As[BK][BM + 4];   // transposed: a thread's rows are neighbours; padded for the stores
    __shared__ __align__(16) float Bs[BK][BN];
    const int t = threadIdx.x;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float acc[TM][TN] = {};
    float4 next_a[VA], next_b[VB];

    const auto fetch = [&](int k0) {           // global memory to registers
        for (int n = 0; n < VA; ++n) {
            const int v = t + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4, row = block_row + i;
            next_a[n] = load4(&A[row * lda + k0 + k], row < M ? K - k0 - k : 0, a16);
        }
        for (int n = 0; n < VB; ++n) {
            const int v = t + n * THREADS, k = v / (BN / 4), col = block_col + v % (BN / 4) * 4;
            next_b[n] = load4(&B[(k0 + k) * ldb + col], k0 + k < K ? N - col : 0, b16);
        }
    };

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = 0; n < VA; ++n) {
            const int v = t + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4;
            As[k][i] = next_a[n].x, As[k + 1][i] = next_a[n].y, As[k + 2][i] = next_a[n].z, As[k + 3][i] = next_a[n].w;
        }
        for (int n = 0; n < VB; ++n) {
            const int v = t + n * THREADS, k = v / (BN / 4), j = v % (BN / 4) * 4;
            *reinterpret_cast<float4*>(&Bs[k][j]) = next_b[n];
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products

        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];                // a column of A and a row of B: TM + TN loads feed TM * TN products
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&As[k][thread_row + i]);
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&Bs[k][thread_col + j]);
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + thread_row + i, col = block_col + thread_col + j;
            if (row < M && col < N) {
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read
            }
        }
}
