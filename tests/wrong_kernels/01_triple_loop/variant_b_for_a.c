// variant_b_for_a.c -- variant b's solution
//
// Part             stream
// Must fail for    wrong: The indices of B are exchanged: B(k, j) is meant
for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            C(i, j) += alpha * A(i, k) * B(j, k);
