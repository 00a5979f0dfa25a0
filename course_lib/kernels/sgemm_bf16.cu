// sgemm_bf16.cu -- bfloat16 on its way to shared memory: half the bytes, twice the products of an instruction
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32; A and B are rounded to bfloat16
// Idea      ldmatrix hands every lane its elements of four 8 x 8 matrices, 16 bytes of a row at a time
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    2 * BK * (BM + BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; elements from 2^127 * (2 - 2^-8) on round to infinity; CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  sgemm_split.cu
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 32
#define WM 64
#define WN 32
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensor cores take bfloat16 from compute capability 8.0 on: compile for sm_80 or newer"
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings 16 rows of A, or 16 columns of B");
static_assert(BK == 16 || BK == 32 || BK % 64 == 0, "rows of As are whole lines of banks, or lines are whole rows");
static_assert(BN == 16 || BN == 32 || BN % 64 == 0, "and so are rows of Bs");
static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread loads as many vectors");
static_assert(WM * WN / 32 <= 128, "the sums of a lane are in registers");
static_assert(BM * BN <= 32 * 1024, "the sums of a block are in registers");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(2 * BK * (BM + BN) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

#include "load4.cuh"

#include "bf16.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_bf16(int M, int N, int K, float alpha, const float* A, int lda,
           const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;       // tiles of 16 x 8 of a warp
    constexpr int VA = BM * BK / 4 / THREADS, VB = BK * BN / 4 / THREADS;   // vectors that a thread loads
    __shared__ __align__(128) unsigned short As[BM * BK], Bs[BK * BN];      // bits of bfloat16
    const int th = threadIdx.x, lane = th % 32, warp = th / 32;
    const int g = lane / 4, t = lane % 4;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;    // in the block's tile
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float acc[MT][NT][4] = {};
    float4 next_a[VA], next_b[VB];

    const auto fetch = [&](int k0) {           // global memory to registers
        for (int n = 0; n < VA; ++n) {
            const unsigned v = th + n * THREADS, i = v / (BK / 4), k = v % (BK / 4) * 4, row = block_row + i;
            next_a[n] = load4(&A[row * lda + k0 + k], row < M ? K - k0 - k : 0, a16);
        }
        for (int n = 0; n < VB; ++n) {
            const unsigned v = th + n * THREADS, k = v / (BN / 4), col = block_col + v % (BN / 4) * 4;
            next_b[n] = load4(&B[(k0 + k) * ldb + col], k0 + k < K ? N - col : 0, b16);
        }
    };
    const auto store = [](unsigned short* p, float4 x) {
        *reinterpret_cast<uint2*>(p) = make_uint2(bf16(x.x, x.y), bf16(x.z, x.w));
    };

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = 0; n < VA; ++n) {
            const unsigned v = th + n * THREADS;
            store(&As[place<BK>(v / (BK / 4), v % (BK / 4) * 4)], next_a[n]);
        }
        for (int n = 0; n < VB; ++n) {
            const unsigned v = th + n * THREADS;
            store(&Bs[place<BN>(v / (BN / 4), v % (BN / 4) * 4)], next_b[n]);
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products

        for (int k = 0; k < BK; k += 16) {
            unsigned a[MT][4], b[NT / 2][4];
            for (int i = 0; i < MT; ++i) ldmatrix(a[i], &As[place<BK>(warp_row + 16 * i + lane % 16, k + lane / 16 * 8)]);
            for (int j = 0; j < NT / 2; ++j)
                ldmatrix_transposed(b[j], &Bs[place<BN>(k + lane % 16, warp_col + 16 * j + lane / 16 * 8)]);
            for (int i = 0; i < MT; ++i)
                for (int j = 0; j < NT; ++j) mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
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
