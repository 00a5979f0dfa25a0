// stream_b_by_columns_of_c.c -- C by its columns, one sum at a time
//
// Part             stream-b
for (int j = 0; j < N; ++j)
    for (int i = 0; i < M; ++i) {
        float sum = 0.0f;
        for (int k = K - 1; k >= 0; --k)
            sum += A(i, k) * B(j, k);
        C(i, j) += alpha * sum;
    }
