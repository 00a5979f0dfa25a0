// block_rows_of_b.c -- blocks of 16 x 16 of C, all k inside, four k at a time with their factors in variables
//
// Part             block
const int side = 16;
for (int down = 0; down < M; down += side) {
    const int bottom = min(down + side, M);
    for (int right = 0; right < N; right += side) {
        const int end = min(right + side, N);
        int k = 0;
        for (; k + 4 <= K; k += 4)
            for (int i = down; i < bottom; ++i) {
                const float a = alpha * A(i, k), b = alpha * A(i, k + 1), c = alpha * A(i, k + 2), d = alpha * A(i, k + 3);
                for (int j = right; j < end; ++j)
                    C(i, j) += a * B(j, k) + b * B(j, k + 1) + c * B(j, k + 2) + d * B(j, k + 3);
            }
        for (; k < K; ++k)
            for (int i = down; i < bottom; ++i)
                for (int j = right; j < end; ++j)
                    C(i, j) += alpha * A(i, k) * B(j, k);
    }
}
