// gemm_blocked.c -- the triple loop in blocks that stay in the cache
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      a BK x BJ block of B is used for BI rows of C while it is in the cache: fewer lines fetched, the same sums
// Blocks    BI rows and BJ columns of C, BK terms of the sums; the block of B, BK*BJ*sizeof(REAL) bytes, should fit well
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^30: the last block of each loop is cut short; with beta 0 C is not read
// Lesson    notebooks/02_cpu.ipynb      Next  gemm_vectors.c
#include <stddef.h>
#ifndef REAL
#define REAL float
#endif
#ifndef BI                      // the launcher passes all block sizes with -D, or none
#define BI 64
#define BJ 256
#define BK 16
#endif
#ifndef A                       // the build that counts cache lines brings its own three
#define A(i, k) A[(size_t)(i) * lda + (k)]
#define B(k, j) B[(size_t)(k) * ldb + (j)]
#define C(i, j) C[(size_t)(i) * ldc + (j)]
#endif
_Static_assert(BI > 0 && BJ > 0 && BK > 0, "a block has at least one row and one column");

static void scale(int M, int N, REAL beta, REAL* C, int ldc) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            REAL* c = &C[(size_t)i * ldc + j];
            *c = beta == 0 ? 0 : beta * *c;
        }
}

static int end(int start, int size, int all) { return start + size < all ? start + size : all; }

void gemm_blocked(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
                  const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc) {
    scale(M, N, beta, C, ldc);
    for (int i0 = 0; i0 < M; i0 += BI)
        for (int j0 = 0; j0 < N; j0 += BJ)
            for (int k0 = 0; k0 < K; k0 += BK)
                for (int i = i0; i < end(i0, BI, M); ++i)
                    for (int k = k0; k < end(k0, BK, K); ++k)
                        for (int j = j0; j < end(j0, BJ, N); ++j)
                            C(i, j) += alpha * A(i, k) * B(k, j);
}
