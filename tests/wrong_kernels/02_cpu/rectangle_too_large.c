// rectangle_too_large.c -- right, but 48 + 24 + 2 lines do not fit into 64
//
// Part             rectangle
// Must fail for    gate: 0.0964
for (int i0 = 0; i0 < M; i0 += 24)
    for (int j0 = 0; j0 < N; j0 += 32)
        for (int k = 0; k < K; ++k)
            for (int i = i0; i < min(i0 + 24, M); ++i)
                for (int j = j0; j < min(j0 + 32, N); ++j)
                    C(i, j) += alpha * A(i, k) * B(k, j);
