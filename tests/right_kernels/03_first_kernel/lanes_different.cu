// lanes_different.cu -- another right solution: a tile of 8 x 64, its warps of 8 x 4 put together by hand
//
// Part             lanes
#define BM 8
#define BN 64
extern "C" __global__ void
lanes(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row = blockIdx.y * BM + (lane & 7);
    const int col = blockIdx.x * BN + 4 * warp + (lane >> 3);
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = K - 1; k >= 0; --k)
            sum = fmaf(A[k * lda + row], B[k * ldb + col], sum);
        sum *= alpha;
        if (beta != 0.0f) sum += beta * C[row * ldc + col];
        C[row * ldc + col] = sum;
    }
}
