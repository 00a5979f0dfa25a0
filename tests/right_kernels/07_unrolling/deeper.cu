// deeper.cu -- another right solution: 32 × 32 tiles, pointers that move on, fmaf, one row more for Bs
//
// Part             main
#define BM 32
#define BN 32
#define BK 32
static __device__ float inside(bool there, const float* p) { return there ? *p : 0.0f; }

extern "C" __global__ void
unrolled(int M, int N, int K, float alpha, const float* A, int lda,
         const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BM][BK + 4];
    __shared__ float Bs[BK + 1][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    const float *a = A + (long long)row * lda + tx, *b = B + (long long)ty * ldb + col;
    float even = 0.0f, odd = 0.0f;
    for (int left = K; left > 0; left -= BK, a += BK, b += (long long)BK * ldb) {
        As[ty][tx] = inside(row < M && tx < left, a);
        Bs[ty][tx] = inside(col < N && ty < left, b);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += 4) {
            const float4 four = *reinterpret_cast<const float4*>(&As[ty][k]);
            even = fmaf(four.x, Bs[k][tx], even);
            odd = fmaf(four.y, Bs[k + 1][tx], odd);
            even = fmaf(four.z, Bs[k + 2][tx], even);
            odd = fmaf(four.w, Bs[k + 3][tx], odd);
        }
        __syncthreads();
    }
    if (row >= M || col >= N) return;
    float result = alpha * (even + odd);
    if (beta != 0.0f) result += beta * C[(long long)row * ldc + col];
    C[(long long)row * ldc + col] = result;
}
