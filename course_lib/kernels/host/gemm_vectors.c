// gemm_vectors.c -- rows of C times vectors of its columns, kept in registers
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      one instruction multiplies and adds a vector of neighbours, and a vector of B serves MR rows of C
// Vectors   the compiler's own type of VB bytes (32: one AVX or two NEON registers); MR rows of NV vectors are one strip
// Strides   lda, ldb, ldc: elements from one row to the next; rows may begin at any address
// Edges     any M, N, K below 2^30; columns that fill no strip go one by one; with beta 0 C is not read
// Lesson    notebooks/02_cpu.ipynb      Next  gemm_packed.c
#include <stddef.h>
#include <string.h>
#ifndef REAL
#define REAL float
#endif
#ifndef MR                      // the launcher passes all three with -D, or none
#define MR 6
#define NV 2
#define VB 32
#endif
_Static_assert(VB % sizeof(REAL) == 0 && (VB & (VB - 1)) == 0, "a vector is a power of two of bytes, whole elements");

typedef REAL vec __attribute__((vector_size(VB)));
enum { LANES = VB / sizeof(REAL), NR = NV * LANES };

void gemm_vectors(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
                  const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc) {
    int j0 = 0;
    for (; j0 + NR <= N; j0 += NR)
        for (int i0 = 0; i0 < M; i0 += MR) {
            const REAL* a[MR];
            for (int r = 0; r < MR; ++r)        // rows that do not exist repeat the last one, and are not stored
                a[r] = &A[(size_t)(i0 + r < M ? i0 + r : M - 1) * lda];
            vec sum[MR][NV] = {{{0}}};
            for (int k = 0; k < K; ++k) {
                vec b[NV];
                for (int v = 0; v < NV; ++v)
                    memcpy(&b[v], &B[(size_t)k * ldb + j0 + v * LANES], VB);
                for (int r = 0; r < MR; ++r)
                    for (int v = 0; v < NV; ++v)
                        sum[r][v] += a[r][k] * b[v];
            }
            REAL all[MR][NR];
            memcpy(all, sum, sizeof all);
            for (int r = 0; r < MR && i0 + r < M; ++r)
                for (int j = 0; j < NR; ++j) {
                    REAL* c = &C[(size_t)(i0 + r) * ldc + j0 + j];
                    *c = alpha * all[r][j] + (beta == 0 ? 0 : beta * *c);
                }
        }
    for (int i = 0; i < M; ++i)                 // the columns that fill no strip
        for (int j = j0; j < N; ++j) {
            REAL sum = 0;
            for (int k = 0; k < K; ++k)
                sum += A[(size_t)i * lda + k] * B[(size_t)k * ldb + j];
            REAL* c = &C[(size_t)i * ldc + j];
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
}
