// stream_two_rows.c -- two rows of B at a time
//
// Part             stream
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; k += 2) {
        const float a = alpha * A(i, k);
        if (k + 1 < K) {
            const float next = alpha * A(i, k + 1);
            for (int j = 0; j < N; ++j)
                C(i, j) += a * B(k, j) + next * B(k + 1, j);
        } else
            for (int j = 0; j < N; ++j)
                C(i, j) += a * B(k, j);
    }
