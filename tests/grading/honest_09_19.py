# ruff: noqa: E501 -- lines of kernels stand as they are
"""Right kernels of exercises 09 to 19 that are written otherwise than the solution: pointers, other orders, other tiles, other ends of lines."""

from fooling_09_19 import Fooling


def _other(exercise, part, *changes):
    """Return a worked solution with changes; nothing may be found in it."""
    return Fooling(exercise, part, "", "", "", "solution", changes)


HONEST = {
    "09-a-pointer-into-the-tile": _other("09_outer_product", "main", (
        "        for (int k = 0; k < BK; ++k) {\n", "        const float* p = &b[0][0];\n        for (int k = 0; k < BK; ++k, p += COLS + 4) {\n"),
        ("c[v][j] += x[v] * b[k][j];", "c[v][j] += x[v] * p[j];")),
    "09-k-backwards": _other("09_outer_product", "four", ("        for (int k = 0; k < BK; ++k) {\n", "        for (int k = BK - 1; k >= 0; --k) {\n")),
    "09-other-block-b": _other("09_outer_product", "main-b", ("#define BK 16", "#define BK 8")),
    "10-a-pointer-along-b": _other("10_any_size", "main", (
        "    for (int k0 = 0; k0 < K; k0 += BK) {", "    const float* b = B + there;\n    for (int k0 = 0; k0 < K; k0 += BK, b += BK * ldb) {"),
        ("B[(k0 + k) * ldb + there]", "b[k * ldb]")),
    "10-while": _other("10_any_size", "peeled", ("    for (int k0 = 0; k0 < whole; k0 += BK) {", "    int k0 = 0;\n    while (k0 < whole) {"), (
        "        As[t / BK][on] = a[k0];\n", "        As[t / BK][on] = a[k0];\n        const float* b = &B[k0 * ldb + there];\n        k0 += BK;\n"),
        ("            const float x = B[(k0 + k) * ldb + there];\n", "            const float x = b[k * ldb];\n")),
    "13-a-pointer-to-the-row": _other("13_matrix_vector", "free", ("const int own = t * N + t / 2;", "float* own = words + t * N + t / 2;"), (
        "matrix[r][c] * words[own + c]", "matrix[r][c] * own[c]"), ("words[own + r] = y[r]", "own[r] = y[r]")),
    "13-other-block": _other("13_matrix_vector", "free", ("#define THREADS 128 ", "#define THREADS 64 ")),
    "14-rows-outside": _other("14_gemm_at_work", "main", ("        for (int k = 0; k < TILE; ++k)\n            for (int i = 0; i < TILE / ROWS; ++i)\n",
                              "        for (int i = 0; i < TILE / ROWS; ++i)\n            for (int k = TILE - 1; k >= 0; --k)\n")),
    "14-a-product-with-the-mask": _other("14_gemm_at_work", "back", ("As[i][tx] = h > 0.0f ? a : 0.0f;", "As[i][tx] = a * (h > 0.0f);")),
    "15-wide-tile": _other("15_closing_in", "main", ("#define BN 64", "#define BN 128")),
    "15-tiles-in-one-array": _other("15_closing_in", "main", (
        "    __shared__ __align__(16) float Bs[BK][BN];\n", "    __shared__ __align__(16) float more[BK * BN];\n    float (*Bs)[BN] = reinterpret_cast<float (*)[BN]>(more);\n")),
    "15-loads-after-the-first-products": _other("15_closing_in", "ahead", (
        "        if (more) fetch(k0 + BK);                          // under way during the products\n", ""),
        ("            float a[TM], b[TN];\n", "            if (more && k == 1) fetch(k0 + BK);\n            float a[TM], b[TN];\n")),
    "15-half-as-deep": _other("15_closing_in", "ahead", ("#define BK 8", "#define BK 4"), ("#define BM 64", "#define BM 32")),
    "16-deeper-tiles": _other("16_tensor_cores", "main", ("#define BK 16", "#define BK 32")),
    "16-k-backwards": _other("16_tensor_cores", "main-b", ("#define BK 16", "#define BK 32"), (
        "        for (int k = 0; k < BK; k += 16) {\n", "        for (int k = BK - 16; k >= 0; k -= 16) {\n")),
    "16-split-other-tile": _other("16_tensor_cores", "split", ("#define BM 32", "#define BM 64")),
    "17-k-backwards": _other("17_stages", "main", ("for (int k = 0; k < BK; k += 8) {", "for (int k = BK - 8; k >= 0; k -= 8) {")),
    "17-five-stages": _other("17_stages", "main-b", ("#define STAGES 3", "#define STAGES 4")),
    "18-k-backwards": _other("18_roles", "main", ("        for (int k = 0; k < BK; k += 16)\n", "        for (int k = BK - 16; k >= 0; k -= 16)\n")),
    "18-the-producer-in-another-lane": _other("18_roles", "main", ("group == CONSUMERS && thread == 0)", "group == CONSUMERS && thread == 31)")),
    "19-a-pointer-along-a": _other("19_busy", "main", (
        "            sum += p.A[row * p.K + k] * p.B[k * p.N + col];", "            sum += __ldg(p.A + row * p.K + k) * __ldg(p.B + k * p.N + col);")),
    "19-two-at-once-b": _other("19_busy", "main-b", ("    float sum = 0.0f;\n    if (row", "    float sum = 0.0f;\n#pragma unroll 8\n    if (row")),
}
CRLF = [("09_outer_product", "four"), ("10_any_size", "main"), ("13_matrix_vector", "free"), ("14_gemm_at_work", "back"), ("15_closing_in", "ahead"),
        ("16_tensor_cores", "main"), ("17_stages", "main"), ("18_roles", "main"), ("19_busy", "main-b")]
HONEST |= {f"{exercise[:2]}-crlf": _other(exercise, part, ("every \n", "\r\n")) for exercise, part in CRLF}
