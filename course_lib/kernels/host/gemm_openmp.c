// gemm_openmp.c -- gemm_ikj with the rows of C shared out by one line of OpenMP
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      what gemm_pthreads.c writes out in thirty lines, the compiler writes for one pragma
// Threads   as many as the argument says, whatever OMP_NUM_THREADS says
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K, and more threads than rows; with beta 0 C is not read
// Lesson    notebooks/02_cpu.ipynb      Next  gemm_vectors.c
#include <stddef.h>
#ifndef REAL
#define REAL float
#endif
#ifndef _OPENMP
#error "without -fopenmp the pragma below is ignored, and one thread does everything"
#endif

void gemm_openmp(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
                 const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc, int threads) {
    #pragma omp parallel for num_threads(threads < 1 ? 1 : threads)
    for (int i = 0; i < M; ++i) {
        REAL* restrict c = &C[(size_t)i * ldc];
        for (int j = 0; j < N; ++j)
            c[j] = beta == 0 ? 0 : beta * c[j];
        for (int k = 0; k < K; ++k) {
            const REAL a = alpha * A[(size_t)i * lda + k];
            const REAL* restrict b = &B[(size_t)k * ldb];
            for (int j = 0; j < N; ++j)
                c[j] += a * b[j];
        }
    }
}
