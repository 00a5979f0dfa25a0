// not_reordered.c -- right, but k is innermost and walks down columns of B
//
// Part             stream
// Must fail for    gate: B 262144
for (int j = 0; j < N; ++j)
    for (int i = 0; i < M; ++i) {
        float sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A(i, k) * B(k, j);
        C(i, j) += alpha * sum;
    }
