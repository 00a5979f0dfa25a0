// rectangle_tall.c -- 24 x 16, two k at a time
//
// Part             rectangle
for (int j0 = 0; j0 < N; j0 += 16)
    for (int i0 = 0; i0 < M; i0 += 24)
        for (int k = 0; k < K; k += 2) {
            const bool two = k + 1 < K;
            for (int i = i0; i < min(i0 + 24, M); ++i) {
                const float a = alpha * A(i, k);
                float b = 0;
                if (two)
                    b = alpha * A(i, k + 1);
                for (int j = j0; j < min(j0 + 16, N); ++j) {
                    C(i, j) += a * B(k, j);
                    if (two)
                        C(i, j) += b * B(k + 1, j);
                }
            }
        }
