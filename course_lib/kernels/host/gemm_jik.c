// gemm_jik.c -- for each element of C, column by column, a row of A times a column of B
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      k is innermost as in ijk, but all of A passes by for each column of B
// Order     jik: the six files differ in the order of three loops alone
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K; with beta 0 C is not read
// Lesson    notebooks/01_triple_loop.ipynb      Next  gemm_jki.c
#include <stddef.h>
#ifndef REAL
#define REAL float
#endif
#ifndef A                       // the build that counts cache lines brings its own three
#define A(i, k) A[(size_t)(i) * lda + (k)]
#define B(k, j) B[(size_t)(k) * ldb + (j)]
#define C(i, j) C[(size_t)(i) * ldc + (j)]
#endif

static void scale(int M, int N, REAL beta, REAL* C, int ldc) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            REAL* c = &C[(size_t)i * ldc + j];
            *c = beta == 0 ? 0 : beta * *c;
        }
}

void gemm_jik(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
              const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc) {
    scale(M, N, beta, C, ldc);
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < M; ++i)
            for (int k = 0; k < K; ++k)
                C(i, j) += alpha * A(i, k) * B(k, j);
}
