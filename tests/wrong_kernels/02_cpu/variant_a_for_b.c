// variant_a_for_b.c -- variant a's solution
//
// Part             block-b
// Must fail for    wrong: The indices of A and of B are exchanged
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int j = j0; j < min(j0 + 16, N); ++j)
                    for (int k = k0; k < min(k0 + 16, K); ++k)
                        C(i, j) += alpha * A(i, k) * B(j, k);
