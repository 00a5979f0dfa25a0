// variant_a_for_b.c -- variant a's solution
//
// Part             stream-b
// Must fail for    wrong: The indices of B are exchanged: B(j, k) is meant
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j);
