// ahead_copies.cu -- another right solution: cp.async for both tiles, and the one barrier at the head of the loop
//
// Part             ahead
#define BM 32
#define BN 32
#define BK 16
#define TM 4
#define TN 4
static __device__ void copy(float* to, const float* from, bool there) {
    const unsigned shared = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(shared), "l"(from), "r"(there ? 4 : 0));
}

extern "C" __global__ void __launch_bounds__(64)
ahead(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[2][BM][BK + 1], Bs[2][BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, t = 8 * ty + tx, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float sums[TM][TN] = {};
    const auto ask = [&](int k0, int s) {
        for (int e = t; e < BM * BK; e += 64) {
            const bool a = m0 + e / BK < M && k0 + e % BK < K, b = k0 + e / BN < K && n0 + e % BN < N;
            copy(&As[s][e / BK][e % BK], a ? &A[(m0 + e / BK) * lda + k0 + e % BK] : A, a);
            copy(&Bs[s][e / BN][e % BN], b ? &B[(k0 + e / BN) * ldb + n0 + e % BN] : B, b);
        }
    };
    ask(0, 0);
    for (int k0 = 0, s = 0; k0 < K; k0 += BK, s = 1 - s) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();                       // the copies of all have arrived, and nobody still reads the other buffer
        if (k0 + BK < K) ask(k0 + BK, 1 - s);
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    sums[i][j] += As[s][ty + 8 * i][k] * Bs[s][k][tx + 8 * j];
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = m0 + ty + 8 * i, col = n0 + tx + 8 * j;
            if (row >= M || col >= N) continue;
            float* c = &C[row * ldc + col];
            *c = beta == 0.0f ? alpha * sums[i][j] : alpha * sums[i][j] + beta * *c;
        }
}
