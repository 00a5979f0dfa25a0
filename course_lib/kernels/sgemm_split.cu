// sgemm_split.cu -- float32's accuracy on tensor cores: every float as a sum of three bfloat16
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      x = x0 + x1 + x2 exactly, 8 bits each; of the nine products of parts the six that matter, small ones first
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (32 * BM/WM * BN/WN): a warp has WM/16 x WN/8 tiles of 16 x 8
// Shared    6 * BK * (BM + BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; elements below 2^127 * (2 - 2^-8) (beyond: NaN); CC 8.0 and up
// Lesson    notebooks/16_tensor_cores.ipynb      Next  none
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 16
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
static_assert(6 * BK * (BM + BN) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

#include "load4.cuh"

#include "bf16.cuh"

// Four floats as three bfloat16 each, a plane of PLANE elements apart: what the parts before leave is exact, and the last leaves nothing.
template <int PLANE>
__device__ __forceinline__ void store_parts(unsigned short* p, float4 x) {
    for (int part = 0; part < 3; ++part) {
        const unsigned low = bf16(x.x, x.y), high = bf16(x.z, x.w);
        *reinterpret_cast<uint2*>(p + part * PLANE) = make_uint2(low, high);
        x.x -= __uint_as_float(low << 16), x.y -= __uint_as_float(low & 0xffff0000u);
        x.z -= __uint_as_float(high << 16), x.w -= __uint_as_float(high & 0xffff0000u);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_split(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    constexpr int MT = WM / 16, NT = WN / 8;       // tiles of 16 x 8 of a warp
    constexpr int VA = BM * BK / 4 / THREADS, VB = BK * BN / 4 / THREADS;   // vectors that a thread loads
    __shared__ __align__(128) unsigned short As[3 * BM * BK], Bs[3 * BK * BN];   // bits of bfloat16
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

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = 0; n < VA; ++n) {
            const unsigned v = th + n * THREADS;
            store_parts<BM * BK>(&As[place<BK>(v / (BK / 4), v % (BK / 4) * 4)], next_a[n]);
        }
        for (int n = 0; n < VB; ++n) {
            const unsigned v = th + n * THREADS;
            store_parts<BK * BN>(&Bs[place<BN>(v / (BN / 4), v % (BN / 4) * 4)], next_b[n]);
        }
        __syncthreads();                       // nobody reads before both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products

        for (int k = 0; k < BK; k += 16) {
            unsigned a[3][MT][4];
            for (int part = 0; part < 3; ++part)
                for (int i = 0; i < MT; ++i)
                    ldmatrix(a[part][i], &As[part * BM * BK + place<BK>(warp_row + 16 * i + lane % 16, k + lane / 16 * 8)]);
            for (int j = 0; j < NT; j += 2) {
                unsigned b[3][4];              // two tiles of 16 x 8
                for (int part = 0; part < 3; ++part)
                    ldmatrix_transposed(b[part], &Bs[part * BK * BN + place<BN>(k + lane % 16, warp_col + 8 * j + lane / 16 * 8)]);
                for (int h = 0; h < 2; ++h) {
                    float d[MT][4] = {};       // 16 terms of each sum; tensor cores cut off, so they get no long sums
                    for (int sum = 2; sum >= 0; --sum)                 // of the numbers of the parts; 3 and 4 are below half a unit
                        for (int part = sum; part >= 0; --part)        // in the last place of a product
                            for (int i = 0; i < MT; ++i) mma(d[i], a[part][i], b[sum - part][2 * h], b[sum - part][2 * h + 1]);
                    for (int i = 0; i < MT; ++i)
                        for (int e = 0; e < 4; ++e) acc[i][j + h][e] += d[i][e];      // rounded to nearest, as FFMA does
                }
            }
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
