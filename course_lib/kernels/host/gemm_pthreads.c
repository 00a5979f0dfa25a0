// gemm_pthreads.c -- gemm_ikj with the rows of C shared out to POSIX threads
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major; REAL is float, or double with -DREAL=double
// Idea      a row of C needs a row of A and all of B, nothing of another row: the threads never wait for each other
// Threads   thread t of T takes the rows from M*t/T up to M*(t+1)/T; the caller is thread 0
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K, and more threads than rows; with beta 0 C is not read
// Lesson    notebooks/02_cpu.ipynb      Next  gemm_openmp.c
#include <pthread.h>
#include <stddef.h>
#ifndef REAL
#define REAL float
#endif
#define MAX_THREADS 1024

struct share {                  // what one thread needs to know
    int first, last, N, K, lda, ldb, ldc;
    REAL alpha, beta;
    const REAL *A, *B;
    REAL* C;
    pthread_t thread;
    int started;
};

static void* work(void* argument) {
    const struct share s = *(const struct share*)argument;
    for (int i = s.first; i < s.last; ++i) {
        REAL* restrict c = &s.C[(size_t)i * s.ldc];
        for (int j = 0; j < s.N; ++j)
            c[j] = s.beta == 0 ? 0 : s.beta * c[j];
        for (int k = 0; k < s.K; ++k) {
            const REAL a = s.alpha * s.A[(size_t)i * s.lda + k];
            const REAL* restrict b = &s.B[(size_t)k * s.ldb];
            for (int j = 0; j < s.N; ++j)
                c[j] += a * b[j];
        }
    }
    return NULL;
}

void gemm_pthreads(int M, int N, int K, REAL alpha, const REAL* restrict A, int lda,
                   const REAL* restrict B, int ldb, REAL beta, REAL* restrict C, int ldc, int threads) {
    struct share shares[MAX_THREADS];
    const int most = M < MAX_THREADS ? M : MAX_THREADS;     // more would find no row to do
    const int T = threads < 1 ? 1 : threads < most ? threads : most;
    for (int t = 0; t < T; ++t)
        shares[t] = (struct share){.first = (int)((long long)M * t / T), .last = (int)((long long)M * (t + 1) / T),
                                   .N = N, .K = K, .lda = lda, .ldb = ldb, .ldc = ldc, .alpha = alpha, .beta = beta,
                                   .A = A, .B = B, .C = C};
    for (int t = 1; t < T; ++t)
        shares[t].started = pthread_create(&shares[t].thread, NULL, work, &shares[t]) == 0;
    for (int t = 0; t < T; ++t)
        if (!shares[t].started)
            work(&shares[t]);   // thread 0's share, and that of any thread which the system refused
    for (int t = 1; t < T; ++t)
        if (shares[t].started)
            pthread_join(shares[t].thread, NULL);           // all rows are complete
}
