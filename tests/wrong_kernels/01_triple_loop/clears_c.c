// clears_c.c -- sets C to 0 first, and loses beta C
//
// Part             stream
// Must fail for    wrong: What C held is lost
for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j)
        C(i, j) = 0;
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j);
}
