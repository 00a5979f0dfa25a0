# ruff: noqa: E501 -- lines of kernels stand as they are
"""Right kernels in styles that students bring along: templates, functors, lambdas, raw bytes, walking pointers, macros, bits, names of their own.

Each shows the idea that its part asks for, and gets full marks.
"""

from fooling_09_19 import Fooling
from honest_texts import (
    APART,
    BY_HAND,
    BY_SHUFFLES,
    FUNCTORS,
    GROUPS,
    LANES_FAR,
    MASKS,
    NAMES,
    RAW_BYTES,
    SHARED_WORK,
    SWIZZLED,
    TWO_BUFFERS_08,
    UNION,
    XOR_13,
)


def _text(exercise: str, part: str, text: str) -> Fooling:
    """Return a kernel as it stands."""
    return Fooling(exercise, part, "", "", "", "text", (("", text),))


def _changed(exercise: str, part: str, *changes: tuple[str, str]) -> Fooling:
    """Return a worked solution with changes."""
    return Fooling(exercise, part, "", "", "", "solution", changes)


HONEST = {
    "03-far-and-apart": _text("03_first_kernel", "lanes", LANES_FAR),
    "04-functors": _text("04_tiling", "tile", FUNCTORS),
    "04-other-names-and-kahan": _text("04_tiling", "tile", NAMES),
    "04-raw-bytes-and-goto": _text("04_tiling", "tile", RAW_BYTES),
    "04-products-in-a-function": _text("04_tiling", "tile", APART),
    "04-loaders-and-multipliers": _text("04_tiling", "tile", SHARED_WORK),
    "04-stage-by-one-warp": _changed("04_tiling", "stage", (
        "        As[ty][tx] = A[row * lda + k0 + tx];\n",
        "        if (ty < 2)                                    // one warp stages for all\n"
        "            for (int i = ty; i < BM; i += 2) As[i][tx] = A[(blockIdx.y * BM + i) * lda + k0 + tx];\n")),
    "04-wide-persistent": _changed("04_tiling", "wide", (
        "    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;   // first element of the tile of C\n",
        "    for (int tile = blockIdx.y * gridDim.x + blockIdx.x; tile < gridDim.x * gridDim.y; tile += gridDim.x * gridDim.y) {\n"
        "    const int block_row = tile / gridDim.x * BM, block_col = tile % gridDim.x * BN;\n"),
        ("                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);\n            }\n        }\n",
         "                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);\n            }\n        }\n    }\n")),
    "05-an-index-times-a-mask": _text("05_coalescing", "main", MASKS),
    "05-swizzled": _text("05_coalescing", "main-b", SWIZZLED),
    "05-a-union-of-four": _text("05_coalescing", "wide", UNION),
    "06-cooperative-groups": _text("06_bank_conflicts", "swap", GROUPS),
    "06-sums-by-shuffles": _text("06_bank_conflicts", "sums", BY_SHUFFLES),
    "07-by-hand": _text("07_unrolling", "main", BY_HAND),
    "07-outputs-by-pointers": _changed("07_unrolling", "outputs", (
        "            const float b = Bs[k][tx];                     // once for TM multiply-adds\n"
        "            for (int i = 0; i < TM; ++i)\n                acc[i] += As[i * (BM / TM) + ty][k] * b;\n",
        "            const float b = *(&Bs[0][tx] + k * BN), *a = &As[ty][k];\n"
        "#pragma unroll\n            for (float *sum = acc, *end = acc + TM; sum != end; ++sum, a += BM / TM * BK) *sum = fmaf(*a, b, *sum);\n")),
    "08-two-buffers-of-float2": _text("08_register_blocking", "main", TWO_BUFFERS_08),
    "09-sums-in-a-class": _changed("09_outer_product", "main", (
        "extern \"C\" __global__", "template <int V, int J> struct Sums {\n    float each[V][J] = {};\n"
        "    __device__ __forceinline__ void add(const float (&x)[V], const float* row) {\n#pragma unroll\n        for (int j = 0; j < J; ++j)\n"
        "#pragma unroll\n            for (int v = 0; v < V; ++v) each[v][j] += x[v] * row[j];\n    }\n};\nextern \"C\" __global__"),
        ("    float c[VECTORS][COLS] = {};\n", "    Sums<VECTORS, COLS> c;\n"),
        ("            for (int j = 0; j < COLS; ++j)\n                for (int v = 0; v < VECTORS; ++v)\n                    c[v][j] += x[v] * b[k][j];\n",
         "            c.add(x, b[k]);\n"), ("alpha * c[v][j]", "alpha * c.each[v][j]")),
    "10-clamped-by-bits": _changed("10_any_size", "main", (
        "(row < M ? row : M - 1) * lda", "(row ^ ((row ^ (M - 1)) & -(row >= M))) * lda"),
        ("const int there = col < N ? col : N - 1; ", "const int there = col - (col - N + 1) * (col >= N); "),
        ("As[t / BK][on] = k0 + on < K ? a[k0] : 0.0f; ", "As[t >> 3][t & 7] = k0 + on < K ? a[k0] : 0.0f; ")),
    "13-swizzled": _text("13_matrix_vector", "free", XOR_13),
    "14-other-names-and-a-functor": _changed("14_gemm_at_work", "main", (
        "int M, int N, int K, const float* A, int lda, const float* B, int ldb,\n      const float* bias, float* C, int ldc) {",
        "int M, int N, int K, const float* __restrict__ x, int ldx, const float* __restrict__ w, int ldw,\n"
        "      const float* __restrict__ shift, float* __restrict__ y, int ldy) {\n"
        "    const struct { __device__ float operator()(float z) const { return z < 0.0f ? 0.0f : z; } } relu = {};"),
        ("A[(block_row + i) * lda", "x[(block_row + i) * ldx"), ("B[(k0 + i) * ldb", "w[(k0 + i) * ldw"), ("bias[col]", "shift[col]"),
        ("            const float z = acc[i] + b;\n            C[row * ldc + col] = z < 0.0f ? 0.0f : z;\n", "            y[row * ldy + col] = relu(acc[i] + b);\n")),
    "14-a-mask-of-bits": _changed("14_gemm_at_work", "back", (
        "As[i][tx] = h > 0.0f ? a : 0.0f;", "As[i][tx] = __int_as_float(__float_as_int(a) & -(int)(h > 0.0f));")),
    "15-rows-by-a-lambda": _changed("15_closing_in", "main", (
        "                a[i] = As[k][i / 4 * (BM / 2) + ty * 4 + i % 4];\n", "                a[i] = As[k][of(BM, ty, i)];\n"),
        ("                b[j] = Bs[k][j / 4 * (BN / 2) + tx * 4 + j % 4];\n", "                b[j] = Bs[k][of(BN, tx, j)];\n"),
        ("    float acc[TM][TN] = {};\n", "    const auto of = [](int size, int thread, int i) { return i / 4 * (size / 2) + thread * 4 + i % 4; };\n    float acc[TM][TN] = {};\n")),
    "15-ahead-by-walking-pointers": _changed("15_closing_in", "ahead", (
        "a[i] = As[s][k][i / 4 * (BM / 2) + ty * 4 + i % 4];", "a[i] = *(&As[s][0][0] + k * BM + i / 4 * (BM / 2) + ty * 4 + i % 4);"),
        ("b[j] = Bs[s][k][j / 4 * (BN / 2) + tx * 4 + j % 4];", "b[j] = *(&Bs[s][0][0] + k * BN + j / 4 * (BN / 2) + tx * 4 + j % 4);")),
    "16-zero-by-hand": _changed("16_tensor_cores", "main", (
        "    wmma::fill_fragment(acc, 0.0f);\n", "    for (int e = 0; e < acc.num_elements; ++e) acc.x[e] = 0.0f;\n"),
        ("alpha * Cs[warp][r][lane % 16]", "alpha * (&Cs[0][0][0])[warp * 256 + r * 16 + (lane & 15)]")),
    "17-other-names": _changed("17_stages", "main", (
        "double alpha, const double* A, int lda,\n       const double* B, int ldb, double beta, double* C, int ldc) {",
        "double alpha, const double* left, int lda,\n       const double* right, int ldb, double beta, double* C, int ldc) {"),
        ("&A[(row0 + i)", "&left[(row0 + i)"), ("&B[(k0 + k)", "&right[(k0 + k)")),
    "19-other-names": _changed("19_busy", "main", (
        "int products, const int* sizes, const float* A, const float* B, float* C,\n                                  float* partial, int* ready) {\n",
        "int products, const int* sizes, const float* A, const float* B, float* C,\n                                  float* left, int* flags) {\n"),
        ("leave(partial, ready, thread, sum);", "leave(left, flags, thread, sum);"), ("sum += collect(partial, ready, thread, who)", "sum += collect(left, flags, thread, who)")),
}
