// endless.c -- counts the wrong variable up
//
// Part             stream
// Must fail for    endless: accesses, 8 for each multiply-add
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; j += 0)
            C(i, j) += alpha * A(i, k) * B(k, j);
