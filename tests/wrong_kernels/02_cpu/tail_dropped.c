// tail_dropped.c -- leaves out what is no whole block along K
//
// Part             block
// Must fail for    wrong: The sums end at k = 16, and K is 24
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 + 16 <= K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int k = k0; k < k0 + 16; ++k)
                    for (int j = j0; j < min(j0 + 16, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
