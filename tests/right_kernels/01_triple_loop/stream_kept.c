// stream_kept.c -- k outermost and the factor kept, while instead of for
//
// Part             stream
int k = 0;
while (k < K) {
    for (int i = 0; i < M; i++) {
        float a = A(i, k);
        a *= alpha;
        for (int j = 0; j < N; j++)
            C(i, j) = C(i, j) + a * B(k, j);
    }
    k++;
}
