// block_too_large.c -- right, but a block of 32 x 32 fills the cache alone
//
// Part             block
// Must fail for    gate: 0.0664
for (int i0 = 0; i0 < M; i0 += 32)
    for (int j0 = 0; j0 < N; j0 += 32)
        for (int k0 = 0; k0 < K; k0 += 32)
            for (int i = i0; i < min(i0 + 32, M); ++i)
                for (int k = k0; k < min(k0 + 32, K); ++k)
                    for (int j = j0; j < min(j0 + 32, N); ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
