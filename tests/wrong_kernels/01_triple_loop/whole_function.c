// whole_function.c -- a function where loops are asked for
//
// Part             stream
// Must fail for    entry: leave out the function around them
void streams(int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    for (int i = 0; i < M; ++i)
        for (int k = 0; k < K; ++k)
            for (int j = 0; j < N; ++j)
                C[i * ldc + j] += alpha * A[i * lda + k] * B[k * ldb + j];
}
