// sgemm_multiply.cu -- the bare product, for those who add afterwards
//
// Computes  P[M,N] = A[M,K] @ B[K,N]                               row-major float32
// Idea      the second kernel of Wong's unfused product: P goes to global memory, and matrix_sum.cu reads it again
// Launch    grid (ceil(N/TILE), ceil(M/TILE)), block (TILE, TILE): one thread per element of P
// Shared    8 * TILE*TILE bytes per block
// Strides   lda, ldb, ldp: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/14_gemm_at_work.ipynb      Next  matrix_sum.cu
#ifndef TILE
#define TILE 16
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread per element of its TILE x TILE tile, and at most 1024 threads");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_multiply(int M, int N, int K, const float* A, int lda, const float* B, int ldb, float* P, int ldp) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;    // of P
    const int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // nobody overwrites before all have read
    }
    if (row < M && col < N) P[row * ldp + col] = acc;
}
