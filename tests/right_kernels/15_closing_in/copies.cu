// copies.cu -- another right solution: a larger tile, B past the registers by cp.async, A by vectors that are turned
//
// Part             main
#define BM 128
#define BN 64
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
lean(int M, int N, int K, float alpha, const float* A, int lda,
     const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BK][BM + 12], Bs[BK][BN];
    const int t = threadIdx.y * 8 + threadIdx.x, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    const int x = t % 2 + t / 4 % 4 * 2, y = t / 2 % 2 + t / 16 * 2;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const int kb = k0 + t / 16, col = n0 + t % 16 * 4;
        copy4(&Bs[t / 16][t % 16 * 4], &B[kb * ldb + col], B, kb < K ? N - col : 0, ldb % 4 == 0);
        for (int v = t; v < BM * 2; v += 128) {
            const int row = m0 + v / 2, k = v % 2 * 4, left = row < M ? K - k0 - k : 0;
            const float* from = &A[row * lda + k0 + k];
            float4 a = {};
            if (lda % 4 == 0 && left >= 4) a = *reinterpret_cast<const float4*>(from);
            else {
                if (left > 0) a.x = from[0];
                if (left > 1) a.y = from[1];
                if (left > 2) a.z = from[2];
                if (left > 3) a.w = from[3];
            }
            As[k][v / 2] = a.x; As[k + 1][v / 2] = a.y; As[k + 2][v / 2] = a.z; As[k + 3][v / 2] = a.w;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float4 a[2], b[2];
            for (int h = 0; h < 2; ++h) {
                a[h] = *reinterpret_cast<const float4*>(&As[k][h * BM / 2 + 4 * y]);
                b[h] = *reinterpret_cast<const float4*>(&Bs[k][h * BN / 2 + 4 * x]);
            }
            const float as[8] = {a[0].x, a[0].y, a[0].z, a[0].w, a[1].x, a[1].y, a[1].z, a[1].w};
            const float bs[8] = {b[0].x, b[0].y, b[0].z, b[0].w, b[1].x, b[1].y, b[1].z, b[1].w};
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += as[i] * bs[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        const int row = m0 + i / 4 * (BM / 2) + 4 * y + i % 4;
        for (int j = 0; j < TN; ++j) {
            const int col = n0 + j / 4 * (BN / 2) + 4 * x + j % 4;
            if (row >= M || col >= N) continue;
            const float old = beta == 0.0f ? 0.0f : beta * C[row * ldc + col];
            C[row * ldc + col] = alpha * acc[i][j] + old;
        }
    }
}
