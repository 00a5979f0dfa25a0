// strip_too_long.c -- strips of 32: right, but 32 lines of C and others do not fit into 32
//
// Part             strip
// Must fail for    gate: 1.06
for (int i0 = 0; i0 < M; i0 += 32)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            for (int i = i0; i < min(i0 + 32, M); ++i)
                C(i, j) += alpha * A(k, i) * B(j, k);
