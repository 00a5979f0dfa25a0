// no_blocks.c -- right, in a good order, but all of B passes by for each row of C
//
// Part             block
// Must fail for    gate: B 18432
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) {
        const float a = alpha * A(i, k);
        for (int j = 0; j < N; ++j)
            C(i, j) += a * B(k, j);
    }
