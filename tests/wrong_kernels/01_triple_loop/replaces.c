// replaces.c -- stores each product instead of adding it
//
// Part             stream
// Must fail for    wrong: Only the last product of each sum is left
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) = alpha * A(i, k) * B(k, j);
