// strip_tail_dropped.c -- leaves out the rows behind the last whole strip
//
// Part             strip
// Must fail for    wrong: From row 16 on, nothing was added to C
for (int i0 = 0; i0 + 16 <= M; i0 += 16)
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < K; ++k)
            for (int i = i0; i < i0 + 16; ++i)
                C(i, j) += alpha * A(k, i) * B(j, k);
