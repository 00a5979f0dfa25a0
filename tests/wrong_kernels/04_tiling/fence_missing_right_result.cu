// fence_missing_right_result.cu -- clears the tile of A, and copies whole rows over it with no fence.proxy.async; the numbers are right
//
// Part             tile
// Must fail for    hazard: missing fence: thread (0, 0, 0) writes byte 0 of As at line 27, and the bulk copy of thread (0, 0, 0) at line 37
#define BM 16
#define BN 16
#define BK 16
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void
tiled(int M, int N, int K, float alpha, const float* A, int lda,
      const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ __align__(16) float As[BM][BK];
    __shared__ float Bs[BK][BN];
    __shared__ unsigned long long full;
    const int tx = threadIdx.x, ty = threadIdx.y, first = blockIdx.y * BM;
    const int row = first + ty;
    const int col = blockIdx.x * BN + tx;
    float acc = 0.0f;
    if (tx == 0 && ty == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (int k0 = 0, phase = 0; k0 < K; k0 += BK, phase ^= 1) {
        // a bulk copy takes whole rows of the tile that begin at a multiple of 16 bytes; the others are loaded
        const bool whole = row < M && k0 + BK <= K && (row * lda + k0) % 4 == 0;
        As[ty][tx] = !whole && row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();
        if (tx == 0 && ty == 0) {
            unsigned bytes = 0;
            for (int i = first; i < first + BM && i < M && k0 + BK <= K; ++i)
                if ((i * lda + k0) % 4 == 0) bytes += 4 * BK;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full)), "r"(bytes) : "memory");
            for (int i = 0; i < BM && first + i < M && k0 + BK <= K; ++i)
                if (((first + i) * lda + k0) % 4 == 0)
                    asm volatile(
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];"
                        ::"r"(at(As[i])), "l"(A + (first + i) * lda + k0), "r"(at(&full)) : "memory");
        }
        for (unsigned done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(&full)), "r"(phase) : "memory");
        for (int k = 0; k < BK; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) {
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
    }
}
