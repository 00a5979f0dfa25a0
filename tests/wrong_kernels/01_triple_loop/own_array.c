// own_array.c -- copies B into an array whose lines nobody counts
//
// Part             stream
// Must fail for    entry: an array would be memory whose lines nobody counts
float copy[64 * 128];
for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            C(i, j) += alpha * A(i, k) * copy[k * N + j];
