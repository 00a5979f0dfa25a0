// lesson_for_block_b.c -- the lesson's loops with ends: A B instead of the transpose of A times B
//
// Part             block-b
// Must fail for    wrong: The indices of A are exchanged: A(k, i) is meant
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int k = k0; k < min(k0 + 16, K); ++k)
                    for (int j = j0; j < min(j0 + 16, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(k, j);
