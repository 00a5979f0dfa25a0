// block_too_small.c -- right, but with 8 x 8 each element is used only 8 times
//
// Part             block
// Must fail for    gate: 0.0163
for (int i0 = 0; i0 < M; i0 += 8)
    for (int j0 = 0; j0 < N; j0 += 8)
        for (int k0 = 0; k0 < K; k0 += 8)
            for (int i = i0; i < min(i0 + 8, M); ++i)
                for (int k = k0; k < min(k0 + 8, K); ++k)
                    for (int j = j0; j < min(j0 + 8, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
