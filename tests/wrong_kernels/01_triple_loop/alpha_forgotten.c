// alpha_forgotten.c -- adds the product without alpha
//
// Part             stream
// Must fail for    wrong: alpha is not applied
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += A(i, k) * B(k, j);
