// semicolon_missing.c -- does not compile
//
// Part             stream
// Must fail for    compile: expected a ";"
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j)
