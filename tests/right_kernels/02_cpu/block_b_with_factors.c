// block_b_with_factors.c -- blocks from the last to the first, columns of C inside, the factor of B in a variable
//
// Part             block-b
for (int j0 = (N - 1) / 16 * 16; j0 >= 0; j0 -= 16)
    for (int i0 = (M - 1) / 16 * 16; i0 >= 0; i0 -= 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int k = k0; k < K && k < k0 + 16; ++k)
                for (int j = j0; j < N && j < j0 + 16; ++j) {
                    const float b = alpha * B(k, j);
                    for (int i = i0; i < M && i < i0 + 16; ++i)
                        C(i, j) += b * A(k, i);
                }
