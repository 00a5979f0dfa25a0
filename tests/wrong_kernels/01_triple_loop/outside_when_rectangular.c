// outside_when_rectangular.c -- gives the loop over k the end of j
//
// Part             stream
// Must fail for    out of bounds: A(0, 32) does not exist: A has 16 rows and 32 columns
for (int i = 0; i < M; ++i)
    for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += alpha * A(i, k) * B(k, j);
