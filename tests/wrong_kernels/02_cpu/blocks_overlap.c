// blocks_overlap.c -- blocks of 17 in steps of 16: what lies on the border is added twice
//
// Part             block
// Must fail for    wrong: The product of k = 16 is added 2 times
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int k = k0; k <= min(k0 + 16, K - 1); ++k)
                    for (int j = j0; j < min(j0 + 16, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
