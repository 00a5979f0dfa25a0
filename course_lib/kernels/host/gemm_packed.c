// gemm_packed.c -- vectors, registers, caches and threads together: how a library multiplies
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      MR x NR of C in registers (L1 feeds it a strip of B), MC x KC of A in L2, KC x NC of B beyond it
// Packing   both blocks are copied into the order in which they will be read: neighbours in time are neighbours in memory
// Threads   rows of C shared out in strips of MR; each thread packs for itself, so none waits for another
// Edges     any M, N, K below 2^30: strips are filled up with zeros, C is written where it exists; with beta 0 C is not read
// Returns   0, or 1 when there was no memory for the packed blocks: C is then unfinished
// Lesson    notebooks/02_cpu.ipynb
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef REAL
#define REAL float
#endif
#ifndef MR                      // the launcher passes all of them with -D, or none
#define MR 6                    // rows of C in registers
#define NV 2                    // vectors across them
#define VB 32                   // bytes of a vector
#define KC 256
#define MC 144
#define NC 1024
#endif
#define MAX_THREADS 1024
enum { LANES = VB / sizeof(REAL), NR = NV * LANES };
_Static_assert(MC % MR == 0 && NC % NR == 0, "blocks are made of whole strips");

typedef REAL vec __attribute__((vector_size(VB)));

// C[MR,NR] += alpha * a @ b, of which rows x cols exist. a: KC columns of MR, b: KC rows of NR, both packed.
static void micro(int kc, REAL alpha, const REAL* restrict a, const REAL* restrict b, REAL* restrict c, int ldc,
                  int rows, int cols) {
    vec sum[MR][NV] = {{{0}}};
    for (int k = 0; k < kc; ++k, a += MR, b += NR) {
        vec bk[NV];
        for (int v = 0; v < NV; ++v)
            memcpy(&bk[v], &b[v * LANES], VB);
        for (int r = 0; r < MR; ++r)
            for (int v = 0; v < NV; ++v)
                sum[r][v] += a[r] * bk[v];
    }
    REAL all[MR][NR];
    memcpy(all, sum, sizeof all);
    if (rows == MR && cols == NR)
        for (int r = 0; r < MR; ++r)
            for (int j = 0; j < NR; ++j)
                c[(size_t)r * ldc + j] += alpha * all[r][j];
    else
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < cols; ++j)
                c[(size_t)r * ldc + j] += alpha * all[r][j];
}

static int least(int a, int b) { return a < b ? a : b; }

// Strips of MR rows, each column by column; zeros below the last row.
static void pack_a(int rows, int kc, const REAL* A, int lda, REAL* restrict packed) {
    for (int i0 = 0; i0 < rows; i0 += MR)
        for (int k = 0; k < kc; ++k)
            for (int r = 0; r < MR; ++r)
                *packed++ = i0 + r < rows ? A[(size_t)(i0 + r) * lda + k] : 0;
}

// Strips of NR columns, each row by row; zeros right of the last column.
static void pack_b(int kc, int cols, const REAL* B, int ldb, REAL* restrict packed) {
    for (int j0 = 0; j0 < cols; j0 += NR)
        for (int k = 0; k < kc; ++k, packed += NR) {
            const int n = least(NR, cols - j0);
            memset(packed, 0, NR * sizeof(REAL));
            memcpy(packed, &B[(size_t)k * ldb + j0], n * sizeof(REAL));
        }
}

struct share {                  // what one thread needs to know
    int rows, N, K, lda, ldb, ldc;
    REAL alpha, beta;
    const REAL *A, *B;
    REAL* C;
    pthread_t thread;
    int started, failed;
};

static void blocks(const struct share* s, REAL* packed_a, REAL* packed_b) {
    for (int j0 = 0; j0 < s->N; j0 += NC)
        for (int k0 = 0; k0 < s->K; k0 += KC) {
            const int cols = least(NC, s->N - j0), kc = least(KC, s->K - k0);
            pack_b(kc, cols, &s->B[(size_t)k0 * s->ldb + j0], s->ldb, packed_b);
            for (int i0 = 0; i0 < s->rows; i0 += MC) {
                const int rows = least(MC, s->rows - i0);
                pack_a(rows, kc, &s->A[(size_t)i0 * s->lda + k0], s->lda, packed_a);
                for (int j = 0; j < cols; j += NR)
                    for (int i = 0; i < rows; i += MR)
                        micro(kc, s->alpha, &packed_a[(size_t)i * kc], &packed_b[(size_t)j * kc],
                              &s->C[(size_t)(i0 + i) * s->ldc + j0 + j], s->ldc,
                              least(MR, rows - i), least(NR, cols - j));
            }
        }
}

static void* work(void* argument) {
    struct share* s = argument;
    for (int i = 0; i < s->rows; ++i)
        for (int j = 0; j < s->N; ++j) {
            REAL* c = &s->C[(size_t)i * s->ldc + j];
            *c = s->beta == 0 ? 0 : s->beta * *c;
        }
    char* memory = malloc(((size_t)MC * KC + (size_t)KC * NC) * sizeof(REAL) + 64);
    s->failed = memory == NULL;
    if (memory == NULL)
        return NULL;
    REAL* packed = (REAL*)(memory + (64 - (uintptr_t)memory % 64));     // strips begin with a cache line
    blocks(s, packed + (size_t)KC * NC, packed);
    free(memory);
    return NULL;
}

int gemm_packed(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
                const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc, int threads) {
    struct share shares[MAX_THREADS];
    const int strips = M / MR + (M % MR != 0), most = least(strips, MAX_THREADS);
    const int T = threads < 1 ? 1 : least(threads, most);
    int failed = 0;
    for (int t = 0; t < T; ++t) {
        const int first = (int)((long long)strips * t / T) * MR;
        const int last = least(M, (int)((long long)strips * (t + 1) / T) * MR);
        shares[t] = (struct share){.rows = last - first, .N = N, .K = K, .lda = lda, .ldb = ldb, .ldc = ldc,
                                   .alpha = alpha, .beta = beta, .A = &A[(size_t)first * lda], .B = B,
                                   .C = &C[(size_t)first * ldc]};
    }
    for (int t = 1; t < T; ++t)
        shares[t].started = pthread_create(&shares[t].thread, NULL, work, &shares[t]) == 0;
    for (int t = 0; t < T; ++t)
        if (!shares[t].started)
            work(&shares[t]);   // thread 0's share, and that of any thread which the system refused
    for (int t = 0; t < T; ++t) {
        if (shares[t].started)
            pthread_join(shares[t].thread, NULL);
        failed |= shares[t].failed;
    }
    return failed;
}
