// square_for_rectangle.c -- right, but no better than part 2
//
// Part             rectangle
// Must fail for    gate: 0.0085
for (int i0 = 0; i0 < M; i0 += 16)
    for (int j0 = 0; j0 < N; j0 += 16)
        for (int k = 0; k < K; ++k)
            for (int i = i0; i < min(i0 + 16, M); ++i)
                for (int j = j0; j < min(j0 + 16, N); ++j)
                    C(i, j) += alpha * A(i, k) * B(k, j);
