// b_different.cu -- another right solution of the variant: sums in double, the two elements by a flag
//
// Part             main-b
extern "C" __global__ void
two_rows(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    const int j = threadIdx.y + blockDim.y * blockIdx.y;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int i = threadIdx.x + blockDim.x * (2 * blockIdx.x + half);
        if (i < M && j < N) {
            double sum = 0.0;
            for (int k = 0; k < K; ++k)
                sum += double(A[i + k * lda]) * B[k + j * ldb];
            const float product = alpha * float(sum);
            C[i + j * ldc] = beta != 0.0f ? fmaf(beta, C[i + j * ldc], product) : product;
        }
    }
}
