// Runs one CPU program on many shapes under a sanitizer; each array has no byte beyond its last element.
#include FILE_NAME
#undef A
#undef B
#undef C
#include <stdio.h>
#include <stdlib.h>
#if THREADED
#define CALL(...) PROGRAM(__VA_ARGS__, threads)
#else
#define CALL(...) PROGRAM(__VA_ARGS__)
#endif

static REAL* array(int rows, int cols, int ld, unsigned* seed) {
    const size_t size = (size_t)(rows - 1) * ld + cols;
    REAL* data = malloc(size * sizeof(REAL));
    for (size_t i = 0; i < size; ++i)
        data[i] = (REAL)((*seed = *seed * 1664525u + 1013904223u) >> 24) - 128;     // whole numbers: the sums are exact
    return data;
}

static int trial(int M, int N, int K, int pad, REAL alpha, REAL beta, int threads, unsigned seed) {
    const int lda = K + pad, ldb = N + 2 * pad, ldc = N + pad;
    REAL *a = array(M, K, lda, &seed), *b = array(K, N, ldb, &seed), *c = array(M, N, ldc, &seed);
    const size_t size = (size_t)(M - 1) * ldc + N;
    REAL* expected = malloc(size * sizeof(REAL));
    for (size_t i = 0; i < size; ++i)
        expected[i] = c[i];
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            REAL sum = 0;
            for (int k = 0; k < K; ++k)
                sum += a[(size_t)i * lda + k] * b[(size_t)k * ldb + j];
            expected[(size_t)i * ldc + j] = alpha * sum + beta * expected[(size_t)i * ldc + j];
        }
    (void)threads;
    CALL(M, N, K, alpha, a, lda, b, ldb, beta, c, ldc);
    int wrong = 0;
    for (size_t i = 0; i < size; ++i)
        wrong += !(c[i] == expected[i]);
    free(a), free(b), free(c), free(expected);
    return wrong;
}

int main(void) {
    const int sizes[][3] = {{1, 1, 1}, {1, 17, 2}, {17, 1, 3}, {5, 15, 8}, {6, 16, 7}, {7, 17, 9}, {13, 33, 15}, {12, 32, 14}, {19, 37, 4}};
    int wrong = 0;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int pad = 0; pad < 4; pad += 3)
            for (int threads = 1; threads < (THREADED ? 9 : 2); threads += 3) {
                wrong += trial(sizes[s][0], sizes[s][1], sizes[s][2], pad, 1, 0, threads, s);
                wrong += trial(sizes[s][0], sizes[s][1], sizes[s][2], pad, 2, -1, threads, s + 99);
            }
    puts(wrong ? "wrong" : "all right");
    return wrong != 0;
}
