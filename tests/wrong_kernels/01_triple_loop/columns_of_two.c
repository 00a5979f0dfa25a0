// columns_of_two.c -- right, but i is innermost and walks down columns of A and C
//
// Part             stream
// Must fail for    gate: 2.03
for (int j = 0; j < N; ++j)
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < M; ++i)
            C(i, j) += alpha * A(i, k) * B(k, j);
