// min_missing.c -- blocks go on beyond the matrix
//
// Part             block
// Must fail for    out of bounds: does not exist
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int i = i0; i < i0 + 16; ++i)
                for (int k = k0; k < k0 + 16; ++k)
                    for (int j = j0; j < j0 + 16; ++j)
                        C(i, j) += alpha * A(i, k) * B(j, k);
