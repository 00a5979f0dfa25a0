// strip_without_min.c -- the last strip goes on beyond the matrix
//
// Part             strip
// Must fail for    out of bounds: does not exist
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            for (int i = i0; i < i0 + 16; ++i)
                C(i, j) += alpha * A(k, i) * B(j, k);
