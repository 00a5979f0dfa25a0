// at_copies.cu -- another right solution: both tiles past the registers by cp.async, and a wider tile
//
// Part             main-b
#define BM 64
#define BN 128
#define BK 8
#define TM 8
#define TN 8
static __device__ void copy4(float* to, const float* from, const float* exists, int left, bool aligned) {
    const unsigned shared = __cvta_generic_to_shared(to);
    const int there = max(0, min(left, 4));
    if (aligned)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(shared), "l"(there ? from : exists), "r"(4 * there));
    else
        for (int n = 0; n < 4; ++n)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(shared + 4 * n), "l"(n < there ? from + n : exists),
                         "r"(n < there ? 4 : 0));
}

extern "C" __global__ void __launch_bounds__(128, 4)
lean_at(int M, int N, int K, float alpha, const float* A, int lda,
        const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK * BM], Bs[BK * BN];
    const int t = threadIdx.y * 16 + threadIdx.x, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    const int x = t % 2 + t / 4 % 8 * 2, y = t / 2 % 2 + t / 32 * 2;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int v = 4 * t; v < BK * BM; v += 512)
            copy4(&As[v], &A[(k0 + v / BM) * lda + m0 + v % BM], A, k0 + v / BM < K ? M - m0 - v % BM : 0, lda % 4 == 0);
        for (int v = 4 * t; v < BK * BN; v += 512)
            copy4(&Bs[v], &B[(k0 + v / BN) * ldb + n0 + v % BN], B, k0 + v / BN < K ? N - n0 - v % BN : 0, ldb % 4 == 0);
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += As[k * BM + i / 4 * (BM / 2) + 4 * y + i % 4] * Bs[k * BN + j / 4 * (BN / 2) + 4 * x + j % 4];
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = m0 + i / 4 * (BM / 2) + 4 * y + i % 4, col = n0 + j / 4 * (BN / 2) + 4 * x + j % 4;
            if (row < M && col < N)
                C[row * ldc + col] = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
        }
}
