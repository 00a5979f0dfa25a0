// block_with_sums.c -- blocks from the last to the first, the sum over a block of k in a variable
//
// Part             block
for (int j0 = (N - 1) / 16 * 16; j0 >= 0; j0 -= 16)
    for (int i0 = (M - 1) / 16 * 16; i0 >= 0; i0 -= 16)
        for (int k0 = 0; k0 < K; k0 += 16)
            for (int j = j0; j < N && j < j0 + 16; ++j)
                for (int i = i0; i < M && i < i0 + 16; ++i) {
                    float sum = 0;
                    for (int k = k0; k < K && k < k0 + 16; ++k)
                        sum += B(j, k) * A(i, k);
                    C(i, j) += alpha * sum;
                }
