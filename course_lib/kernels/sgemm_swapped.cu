// sgemm_swapped.cu -- one thread computes one element of C, with row and column the wrong way round
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      a mistake worth seeing: every result is right, but neighbouring lanes lie a whole row apart
// Launch    grid (ceil(M/bx), ceil(N/by)), block (bx, by): any shape of at most 1024 threads
// Shared    none
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; threads outside C do nothing
// Lesson    notebooks/03_first_kernel.ipynb      Next  sgemm_naive.cu
extern "C" __global__ void __launch_bounds__(1024)
sgemm_swapped(int M, int N, int K, float alpha, const float* A, int lda,
              const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;   // of C: neighbouring lanes, neighbouring ROWS
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;

    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * lda + k] * B[k * ldb + col];

    float* c = &C[row * ldc + col];
    *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);    // beta 0: C is not read, so NaN there does no harm
}
