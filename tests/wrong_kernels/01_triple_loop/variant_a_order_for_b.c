// variant_a_order_for_b.c -- variant a's order of the loops, with b's indices: right, but down B's columns
//
// Part             stream-b
// Must fail for    gate: B 262144
for (int k = 0; k < K; ++k)
    for (int i = 0; i < M; ++i) {
        const float a = alpha * A(i, k);
        for (int j = 0; j < N; ++j)
            C(i, j) += a * B(j, k);
    }
