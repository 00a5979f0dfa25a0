// sgemm_naive.cu -- one thread computes one element of C, from global memory alone
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      the grid covers C; each thread walks along one row of A and down one column of B
// Launch    grid (ceil(N/bx), ceil(M/by)), block (bx, by): any shape of at most 1024 threads
// Shared    none
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; threads outside C do nothing
// Lesson    notebooks/03_first_kernel.ipynb      Next  sgemm_tiled.cu
extern "C" __global__ void __launch_bounds__(1024)
sgemm_naive(int M, int N, int K, float alpha, const float* A, int lda,
            const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;   // of C
    const int col = blockIdx.x * blockDim.x + threadIdx.x;   // neighbouring lanes, neighbouring columns
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * lda + k] * B[k * ldb + col];

    float* c = &C[row * ldc + col];
    *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);    // beta 0: C is not read, so NaN there does no harm
}
