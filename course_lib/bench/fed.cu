// fed.cu -- lesson 15: loads of 128 bits, the next tiles on their way, and lanes in squares
#include "load4.cuh"             // load4: four floats of a row, and 0 for those beyond its end
#define BM 128                   // a block computes BM × BN elements of C
#define BN 128
#define BK 8
#define TM 8                     // a thread computes TM × TN of them
#define TN 8

extern "C" __global__ void __launch_bounds__(256, 2)     // two blocks per multiprocessor: at most 128 registers per thread
fed(int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK][BM + 4], Bs[BK][BN];       // A's tile lies transposed, its rows are padded by 4 words
    const int t = 16 * threadIdx.y + threadIdx.x, warp = t / 32, lane = t % 32;
    const int row0 = BM * blockIdx.y, col0 = BN * blockIdx.x;
    const int ia = t / 2, ka = t % 2 * 4, kb = t / 32, jb = t % 32 * 4;   // which four words of either tile this thread brings
    const bool a16 = aligned16(A, lda), b16 = aligned16(B, ldb);
    float4 next_a, next_b;
    auto fetch = [&](int k0) {   // from global memory into registers
        next_a = load4(&A[(row0 + ia) * lda + k0 + ka], row0 + ia < M ? K - k0 - ka : 0, a16);
        next_b = load4(&B[(k0 + kb) * ldb + col0 + jb], k0 + kb < K ? N - col0 - jb : 0, b16);
    };

    const int lane_row = lane / 2 % 2 + lane / 4 % 4 * 2;
    const int lane_col = lane % 2 + lane / 16 * 2;
    const int row = warp / 4 * 64 + 4 * lane_row;    // rows row to row + 3 of the tile, and row + 32 to row + 35
    const int col = warp % 4 * 32 + 4 * lane_col;    // columns col to col + 3, and col + 16 to col + 19
    float sum[TM][TN] = {};

    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ka][ia] = next_a.x, As[ka + 1][ia] = next_a.y, As[ka + 2][ia] = next_a.z, As[ka + 3][ia] = next_a.w;
        *(float4*)&Bs[kb][jb] = next_b;
        __syncthreads();         // both tiles are complete
        if (k0 + BK < K) fetch(k0 + BK);     // asked for now, needed after the products

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float4 a4[2], b4[2];
            const float *a = &a4[0].x, *b = &b4[0].x;        // a[0] … a[7] and b[0] … b[7]
            a4[0] = *(float4*)&As[k][row];
            a4[1] = *(float4*)&As[k][row + 32];
            b4[0] = *(float4*)&Bs[k][col];
            b4[1] = *(float4*)&Bs[k][col + 16];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    sum[i][j] += a[i] * b[j];
        }
        __syncthreads();         // everyone has read them
    }

    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + row + i / 4 * 32 + i % 4, c = col0 + col + j / 4 * 16 + j % 4;
            if (r < M && c < N)
                C[r * ldc + c] = alpha * sum[i][j] + (beta == 0.0f ? 0.0f : beta * C[r * ldc + c]);
        }
}
