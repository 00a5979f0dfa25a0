// lanes_different.cu -- another right solution: a tile of 8 x 64, its warps put together by hand from 2 x 16
//
// Part             lanes
#define BM 8
#define BN 64
extern "C" __global__ void
lanes(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row = blockIdx.y * BM + 2 * (warp / 4) + (lane >> 4);
    const int col = blockIdx.x * BN + 16 * (warp % 4) + (lane & 15);
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = K - 1; k >= 0; --k)
            sum = fmaf(A[row * lda + k], B[k * ldb + col], sum);
        sum *= alpha;
        if (beta != 0.0f) sum += beta * C[row * ldc + col];
        C[row * ldc + col] = sum;
    }
}
