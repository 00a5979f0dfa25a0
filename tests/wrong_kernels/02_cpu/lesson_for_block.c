// lesson_for_block.c -- the lesson's loops with ends: A B instead of A times the transpose of B
//
// Part             block
// Must fail for    wrong: The indices of B are exchanged: B(j, k) is meant
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int k = k0; k < min(k0 + 16, K); ++k)
                    for (int j = j0; j < min(j0 + 16, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(k, j);
