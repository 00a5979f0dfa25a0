// strip_along_k.c -- cuts the loop over k, with the sum of a strip in a variable
//
// Part             strip
for (int first = 0; first < K; first += 16) {
    const int end = min(first + 16, K);
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float sum = 0;
            for (int k = first; k < end; ++k)
                sum += A(k, i) * B(j, k);
            C(i, j) += alpha * sum;
        }
}
