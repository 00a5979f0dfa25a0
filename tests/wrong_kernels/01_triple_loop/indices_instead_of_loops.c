// indices_instead_of_loops.c -- exchanges B's indices where the loops should be exchanged
//
// Part             stream
// Must fail for    wrong: The indices of B are exchanged: B(k, j) is meant
for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            C(i, j) += alpha * A(i, k) * B(j, k);
