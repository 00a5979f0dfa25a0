// no_blocks.c -- right, in a good order, but all of B passes by for each row of C
//
// Part             block
// Must fail for    gate: B 18432
for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
        float sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A(i, k) * B(j, k);
        C(i, j) += alpha * sum;
    }
