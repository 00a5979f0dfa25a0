// b_col_major.cu -- declares B's fragment col_major, though its tile is stored row by row
//
// Part             main
// Must fail for    wrong: Each 16 × 16 of B is used transposed
#include <mma.h>
using namespace nvcuda;
#define BM 32
#define BN 32
#define BK 16
#define WARPS ((BM / 16) * (BN / 16))                      // one for each 16 x 16 of the block's tile of C
#define THREADS (32 * WARPS)
static_assert(BM % 16 == 0 && BN % 16 == 0 && BK % 16 == 0, "a fragment has 16 x 16 elements");
extern "C" __global__ void
tensor(int M, int N, int K, float alpha, const float* A, int lda,
       const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(32) __nv_bfloat16 As[BM][BK], Bs[BK][BN];
    __shared__ __align__(32) float Cs[WARPS][16][16];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;                // first element of the tile of C
    const int warp_row = warp / (BN / 16) * 16, warp_col = warp % (BN / 16) * 16;      // of the warp's 16 x 16 in it
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int n = t; n < BM * BK; n += THREADS) {
            const int i = n / BK, k = n % BK;
            As[i][k] = __float2bfloat16(block_row + i < M && k0 + k < K ? A[(block_row + i) * lda + k0 + k] : 0.0f);
        }
        for (int n = t; n < BK * BN; n += THREADS) {
            const int k = n / BN, j = n % BN;
            Bs[k][j] = __float2bfloat16(k0 + k < K && block_col + j < N ? B[(k0 + k) * ldb + block_col + j] : 0.0f);
        }
        __syncthreads();                                   // nobody reads before both tiles are complete
        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
            wmma::load_matrix_sync(a, &As[warp_row][k], BK);
            wmma::load_matrix_sync(b, &Bs[k][warp_col], BN);
            wmma::mma_sync(acc, a, b, acc);
        }
        __syncthreads();                                   // nobody overwrites before all have read
    }
    wmma::store_matrix_sync(&Cs[warp][0][0], acc, 16, wmma::mem_row_major);
    __syncwarp();                                          // the warp's tile is complete
    for (int e = 0; e < 8; ++e) {                          // lane l stores column l % 16, every other row
        const int r = 2 * e + lane / 16, row = block_row + warp_row + r, col = block_col + warp_col + lane % 16;
        if (row < M && col < N) {
            float* c = &C[row * ldc + col];
            *c = alpha * Cs[warp][r][lane % 16] + (beta == 0.0f ? 0.0f : beta * *c);
        }
    }
}
