// gemm_thread.cu -- one thread per element, in float or double
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major, REAL = float or double
// Idea      the starting point of Wang and Jin: what does double precision cost the simplest kernel?
// Launch    grid (ceil(N/bx), ceil(M/by)), block (bx, by): one thread per element of C
// Shared    none
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; threads outside C do nothing
// Lesson    none yet      Next  gemm_block.cu
#ifndef REAL
#define REAL double
#endif

extern "C" __global__ void
gemm_thread(int M, int N, int K, REAL alpha, const REAL* A, int lda,
            const REAL* B, int ldb, REAL beta, REAL* C, int ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    REAL acc = 0;
    for (int k = 0; k < K; ++k)
        acc += A[row * lda + k] * B[k * ldb + col];
    REAL* c = &C[row * ldc + col];
    *c = alpha * acc + (beta == 0 ? 0 : beta * *c);   // beta 0: C is not read, so NaN there does no harm
}
