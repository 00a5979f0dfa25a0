// sgemm_mma.cu -- tensor cores by the machine's own instruction, mma.sync: every lane knows what it holds
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32; A and B are rounded to TF32
// Idea      a warp multiplies 16 x 8 by 8 x 8 with one instruction, from registers to registers
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    4 * (BM*(BK+4) + BK*(BN+8)) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; elements from 2^127 * (2 - 2^-11) on round to infinity; CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  sgemm_bf16.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 32
#define WM 64
#define WN 32
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensor cores take TF32 from compute capability 8.0 on: compile for sm_80 or newer"
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define LDA_S (BK + 4)    // padding: 8 rows x 4 columns, and 4 x 8, lie in 32 different banks
#define LDB_S (BN + 8)
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 8 == 0 && BK % 8 == 0, "an instruction multiplies 16 x 8 by 8 x 8");
static_assert(BN % 16 == 0, "the padding of Bs is made for multiples of 16");
static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread loads as many vectors");
static_assert(WM * WN / 32 <= 128, "the sums of a lane are in registers");
static_assert(BM * BN <= 32 * 1024, "the sums of a block are in registers");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(4 * (BM * LDA_S + BK * LDB_S) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

#include "load4.cuh"

// The nearest number with 10 bits behind the point: the hardware would cut the other 13 off.
__device__ __forceinline__ unsigned tf32(float x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ uint4 tf32(float4 x) {
    return make_uint4(tf32(x.x), tf32(x.y), tf32(x.z), tf32(x.w));
}

// d += a b. With g = lane / 4 and t = lane % 4 a lane holds, as (row, column):
//   a  16 x 8   (g, t)   (g + 8, t)    (g, t + 4)   (g + 8, t + 4)
//   b   8 x 8   (t, g)   (t + 4, g)
//   d  16 x 8   (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)
__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_mma(int M, int N, int K, float alpha, const float* A, int lda,
          const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;       // tiles of 16 x 8 of a warp
    constexpr int VA = BM * BK / 4 / THREADS, VB = BK * BN / 4 / THREADS;   // vectors that a thread loads
    __shared__ __align__(16) unsigned As[BM][LDA_S], Bs[BK][LDB_S];
    const int th = threadIdx.x, lane = th % 32, warp = th / 32;
    const int g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float acc[MT][NT][4] = {};
    float4 next_a[VA], next_b[VB];

    const auto fetch = [&](int k0) {           // global memory to registers
        for (int n = 0; n < VA; ++n) {
            const int v = th + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4, row = block_row + i;
            next_a[n] = load4(&A[row * lda + k0 + k], row < M ? K - k0 - k : 0, a16);
        }
        for (int n = 0; n < VB; ++n) {
            const int v = th + n * THREADS, k = v / (BN / 4), col = block_col + v % (BN / 4) * 4;
            next_b[n] = load4(&B[(k0 + k) * ldb + col], k0 + k < K ? N - col : 0, b16);
        }
    };

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = 0; n < VA; ++n) {
            const int v = th + n * THREADS;
            *reinterpret_cast<uint4*>(&As[v / (BK / 4)][v % (BK / 4) * 4]) = tf32(next_a[n]);
        }
        for (int n = 0; n < VB; ++n) {
            const int v = th + n * THREADS;
            *reinterpret_cast<uint4*>(&Bs[v / (BN / 4)][v % (BN / 4) * 4]) = tf32(next_b[n]);
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products

        for (int k = 0; k < BK; k += 8) {
            unsigned a[MT][4], b[NT][2];
            for (int i = 0; i < MT; ++i)
                for (int e = 0; e < 4; ++e) a[i][e] = As[warp_row + 16 * i + g + e % 2 * 8][k + t + e / 2 * 4];
            for (int j = 0; j < NT; ++j)
                for (int e = 0; e < 2; ++e) b[j][e] = Bs[k + t + 4 * e][warp_col + 8 * j + g];
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) mma(acc[i][j], a[i], b[j]);
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    for (int i = 0; i < MT; ++i)
        for (int j = 0; j < NT; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = block_row + warp_row + 16 * i + g + e / 2 * 8;
                const int col = block_col + warp_col + 8 * j + 2 * t + e % 2;
                if (row < M && col < N) {
                    float* c = &C[row * ldc + col];
                    *c = alpha * acc[i][j][e] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read
                }
            }
}
