// wrong_end.c -- the blocks along k end where j ends
//
// Part             block
// Must fail for    wrong: The sums end at k = 12, and K is 28
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int k = k0; k < min(k0 + 16, N); ++k)
                    for (int j = j0; j < min(j0 + 16, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
