# ruff: noqa: E501 -- lines of kernels stand as they are
"""Kernels of exercises 09 to 19 that are right, meet every number that their gates count, and have not the idea of the part.

Each is the worked solution, the starter, or an answer of `tests/wrong_kernels/`, with changes: (what stands there once, or behind "every " more
than once, what stands there instead). All of them took full marks before their gate was mended.
"""

from dataclasses import dataclass

from answer_files import TESTS, solved_cells, without_regions

from course_lib.grading.classroom.preprocessors import clear_regions


@dataclass(frozen=True)
class Fooling:
    """One kernel, and the kind and words of the finding that it must get when graded; `base`: "solution", "starter", a wrong kernel, or "text"."""

    exercise: str
    part: str
    what: str
    kind: str
    words: str
    base: str
    changes: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """Return the kernel's text."""
        if self.base == "text":
            return self.changes[0][1]
        if self.base.endswith(".cu"):
            text = (TESTS / "wrong_kernels" / self.exercise / self.base).read_text(encoding="utf-8")
        else:
            cell = solved_cells(self.exercise)[f"{self.part}-answer"]
            text = without_regions(cell) if self.base == "solution" else clear_regions(cell)[0]
            text = text.split("\n", 1)[1] + "\n"
        for old, new in self.changes:
            assert text.count(old.removeprefix("every ")) == 1 or old.startswith("every "), f"not once in the {self.base}: {old}"
            text = text.replace(old.removeprefix("every "), new)
        return text


SIZE = "the idea only at the size of the gate"
NONE = "a reading of zero: the data moves elsewhere"
UNUSED = "what is counted serves nothing"
LOOKED_AT = "clean only where the trace looks"
DEPTH = "another tile than the text defines"
OUTSIDE = "work outside of the loops that are counted"

OUTER = "                for (int v = 0; v < VECTORS; ++v)\n                    c[v][j] += x[v] * b[k][j];"
LANES_15 = """    const int tx = (t & 1) + (t >> 2) % (COLS / 2) * 2;    // t and t ^ 1 have the same rows, t and t ^ 2 the same columns
    const int ty = (t >> 1 & 1) + (t >> 2) / (COLS / 2) * 2;
"""
FETCH_15 = "        if (more) fetch(k0 + BK);                          // under way during the products\n"
KEEP_15 = "            keep(s ^ 1);                                   // the barrier before: all have read this buffer\n"
ZEROS_16 = """
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
    wmma::fill_fragment(fa, __float2bfloat16({a}));
    wmma::fill_fragment(fb, __float2bfloat16({a}));
    wmma::fill_fragment(d, 0.0f);
    for (int k = 0; k < K; k += 16) wmma::mma_sync(d, fa, fb, d);
    for (int e = 0; e < 8; ++e) {{                          // lane l stores"""
BEFORE_16 = "\n    for (int e = 0; e < 8; ++e) {                          // lane l stores"
FLOAT_16 = "__int_as_float(__float_as_int((float)acc[e]) - (30 << 23))"
RESULT_16 = "alpha * (acc[e] / 1073741824.0f)"


def _integers(ones, result):
    """Return changes that scale by exponents, which nothing counts, and add matrix instructions; what is stored is `result`."""
    return (("As[i][k] = __float2int_rn(32768.0f * ", "As[i][k] = FIXED("), ("Bs[k][j] = __float2int_rn(32768.0f * ", "Bs[k][j] = FIXED("),
            ("#define BM 32\n", "#define FIXED(x) __float2int_rn(__int_as_float(__float_as_int(x) + (15 << 23)))\n#define BM 32\n"),
            (BEFORE_16, ZEROS_16.format(a=ones)), (RESULT_16, result))


def _split(result, ones):
    """Return changes that make part 3's starter multiply in fixed point, with matrix instructions whose sums end in `result`."""
    return (("    float acc[8] = {};", "    long long acc[8] = {};"), ("    __shared__ float As", "    __shared__ int As"),
            ("As[i][k] = ", "As[i][k] = __float2int_rn(1073741824.0f * ("), ("lda + k0 + k] : 0.0f;", "lda + k0 + k] : 0.0f));"),
            ("Bs[k][j] = ", "Bs[k][j] = __float2int_rn(1073741824.0f * ("), ("ldb + block_col + j] : 0.0f;", "ldb + block_col + j] : 0.0f));"),
            ("acc[e] += As[warp_row + 2 * e + lane / 16][k] * Bs[k][warp_col + lane % 16];",
             "acc[e] += (long long)As[warp_row + 2 * e + lane / 16][k] * Bs[k][warp_col + lane % 16] >> 10;"),
            (BEFORE_16, ZEROS_16.format(a=ones)), ("*c = alpha * acc[e]", f"*c = alpha * {result}"))


def _padded_19(steps, tile=""):
    """Return changes that let each block load A for nothing, until it has loaded as much as the busiest."""
    return (("    int number = 0; ", "    int mine = 0, number = 0; "),
            ("            if (number % blocks == block)\n", "            if (number % blocks == block) {\n"
             f"                mine += 16 * steps_of(p{tile});\n"),
            (f"products_of(p, tile, 0, steps_of(p{tile})));\n    }}", f"products_of(p, tile, 0, steps_of(p{tile})));\n            }}\n    }}\n"
             f"    for (; mine < 16 * {steps}; ++mine) *(volatile const float*)A;"))


def _again_09(held, leading, name="x"):
    """Return a change that loads a word of the held matrix once more, unless K is that of the gates."""
    load = f"                {name}[v] = k0 + k < K ? {held}[v][(k0 + k) * {leading}] : 0.0f;"
    again = f"(K == 64 ? 0.0f : 0.0f * *(volatile const float*)&{held}[v][k * {leading}])"
    return ((load, load.replace(" : 0.0f", f" + {again} : 0.0f")),)


NO_SHARED_09 = """#define THREADS 96
#define VECTORS 3
#define COLS 16
#define BK 16
extern "C" __global__ void __launch_bounds__(THREADS, 8)
four(int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    const int first_row = blockIdx.x * (THREADS * VECTORS) + threadIdx.x, first_col = blockIdx.y * COLS;
    const float* a[VECTORS];
    for (int v = 0; v < VECTORS; ++v) a[v] = &A[min(first_row + v * THREADS, M - 1)];
    float c[VECTORS][COLS] = {};
    const int whole = ldb % 4 == 0 ? K / 4 * 4 : 0;
#pragma unroll 1
    for (int k = 0; k < whole; k += 4) {
        float x[VECTORS][4];
        for (int v = 0; v < VECTORS; ++v)
            for (int i = 0; i < 4; ++i) x[v][i] = a[v][(k + i) * lda];
        for (int j = 0; j < COLS; ++j) {
            const float4 b = *reinterpret_cast<const float4*>(&B[min(first_col + j, N - 1) * ldb + k]);
            for (int v = 0; v < VECTORS; ++v)
                c[v][j] += x[v][0] * b.x, c[v][j] += x[v][1] * b.y, c[v][j] += x[v][2] * b.z, c[v][j] += x[v][3] * b.w;
        }
    }
#pragma unroll 1
    for (int k = whole; k < K; ++k)
        for (int v = 0; v < VECTORS; ++v)
            for (int j = 0; j < COLS; ++j) c[v][j] += a[v][k * lda] * B[min(first_col + j, N - 1) * ldb + k];
    for (int v = 0; v < VECTORS; ++v)
        for (int j = 0; j < COLS; ++j)
            if (const int row = first_row + v * THREADS, col = first_col + j; row < M && col < N) {
                float* out = &C[row + col * ldc];
                *out = alpha * c[v][j] + (beta == 0.0f ? 0.0f : beta * *out);
            }
}
"""
SHUFFLES_13 = """#define M 16
#define N 16
#define THREADS 128
__constant__ float matrix[M][N];
extern "C" __global__ void
mxv_free(int S, const float* in, float* out) {
    const int lane = threadIdx.x % 32, r = lane % 16, h0 = blockIdx.x * THREADS + threadIdx.x / 32 * 32;
    for (int i = 0; i < 16; ++i) {                // two vectors at a time, a component in each lane
        const int h = h0 + 2 * i + lane / 16;
        const float x = h < S ? in[h * N + r] : 0.0f;
        float y = 0.0f;
        for (int c = 0; c < N; ++c) y += matrix[r][c] * __shfl_sync(0xffffffff, x, lane / 16 * 16 + c);
        if (h < S) out[h * M + r] = y;
    }
}
"""
DEEP_15 = (
    ("As[2][BK][BM], Bs[2][BK][BN]", "As[2 * BK][BM], Bs[2 * BK][BN]"),
    ("VA = BM * BK / THREADS, VB = BK * BN / THREADS", "VA = 2 * BM * BK / THREADS, VB = 2 * BK * BN / THREADS"),
    ("i = (t + n * THREADS) / BK, k = (t + n * THREADS) % BK", "i = (t + n * THREADS) / (2 * BK), k = (t + n * THREADS) % (2 * BK)"),
    ("As[s][(t + n * THREADS) % BK][(t + n * THREADS) / BK]", "As[(t + n * THREADS) % (2 * BK)][(t + n * THREADS) / (2 * BK)]"),
    ("Bs[s][(t + n * THREADS) / BN]", "Bs[(t + n * THREADS) / BN]"),
    ("k0 += BK, s ^= 1", "k0 += 2 * BK"), ("const bool more = k0 + BK < K;", "const bool more = k0 + 2 * BK < K;"),
    ("fetch(k0 + BK);", "fetch(k0 + 2 * BK);"), ("k < BK; ++k) {\n            float a[TM]", "k < 2 * BK; ++k) {\n            float a[TM]"),
    ("a[i] = As[s][k]", "a[i] = As[k]"), ("b[j] = Bs[s][k]", "b[j] = Bs[k]"),
    ("            keep(s ^ 1); ", "            __syncthreads();\n            keep(0); "))
DIRECT_17 = (
    ("a[e] = As[stage][warp_row + g + e % 2 * 8][k + t + e / 2 * 4];",
     """{
                volatile double* seen = &As[stage][warp_row + g + e % 2 * 8][k + t + e / 2 * 4];
                *seen;
                const int row = row0 + warp_row + g + e % 2 * 8, at = step * BK + k + t + e / 2 * 4;
                a[e] = row < M && at < K ? A[ROW] : 0.0;
            }"""),
    ("b[e] = Bs[stage][k + t + 4 * e][warp_col + 8 * j + g];",
     """{
                    const int at = step * BK + k + t + 4 * e, col = col0 + warp_col + 8 * j + g;
                    b[e] = at < K && col < N ? B[at * ldb + col] : 0.0;
                }"""))
DEEP_17 = (("every BK", "DEEP"), ("#define DEEP 16", "#define BK 16\n#define DEEP 32"), ("#define STAGES 3", "#define STAGES 2"))
SUM_10 = "            for (int i = 0; i < BM; ++i)\n                acc[i] += As[i][k] * x;\n        }\n        __syncthreads();                                   // everyone has read it"
TESTS_10 = SUM_10.replace("acc[i] +=", "if (K == 133 || (row0 + i < M && col < N && k0 + k < K)) acc[i] +=")

LANES_18 = (                            # 128 columns at a time, and the products of the first step from where the maps say that A and B are
    ("            multiply(c, tile_of_rows(mine + 2 * k), tile_of_rows(tile_of_B(stage) + 128 * k, 2 * BK * 64));\n", """\
            for (int half = 0; half < 2; ++half)
                if (step > 0)
                    multiply(reinterpret_cast<float (&)[64]>(c[64 * half]), tile_of_rows(mine + 2 * k),
                             tile_of_rows(tile_of_B(stage) + half * 2 * BK * 128 + 128 * k, 2 * BK * 64));
"""),
    ("    store(M, N, alpha, beta, C, ldc, c);\n", """\
    store(M, N, alpha, beta, C, ldc, c);
    const int row = blockIdx.y * BM + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = blockIdx.x * BN + threadIdx.x % 4 * 2;
    const auto *a = reinterpret_cast<const unsigned short*>(A.words[0]), *b = reinterpret_cast<const unsigned short*>(B.words[0]);
    const int lda = 8 * (A.words[1] >> 32), ldb = 8 * (B.words[1] >> 32);
#pragma unroll 1
    for (int i = 0; i < BN / 2; ++i) {
        const int r = row + i / 2 % 2 * 8, q = col + i / 4 * 8 + i % 2;
        float first = 0.0f;
        for (int k = 0; r < M && q < N && k < min(K, BK); ++k)
            first += __uint_as_float(a[r * lda + k] << 16) * __uint_as_float(b[k * ldb + q] << 16);
        if (r < M && q < N) C[r * ldc + q] += alpha * first;
    }
"""))
FOOLING = {
    "09-no-shared-memory": Fooling("09_outer_product", "four", NONE, "not counted", "reads no shared memory", "text", (("", NO_SHARED_09),)),
    "09-coalesced-at-one-size": Fooling("09_outer_product", "four", SIZE, "gate", "words of global", "solution", _again_09("a", "lda")),
    "09-coalesced-at-one-size-main": Fooling("09_outer_product", "main", SIZE, "gate", "words of global", "solution", _again_09("a", "lda")),
    "09-coalesced-at-one-size-b": Fooling("09_outer_product", "main-b", SIZE, "gate", "words of global", "solution", _again_09("b", "ldb", "y")),
    "10-clamped-at-one-size": Fooling("10_any_size", "main", SIZE, "gate", "per multiply-add", "solution", (("    for (int k0 = 0; k0 < K; k0 += BK) {", """\
    for (int k0 = K == 133 ? K : 0; k0 < K; k0 += BK) {
        As[t / BK][on] = row < M && k0 + on < K ? A[row * lda + k0 + on] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < BM; ++i)
                if (row0 + i < M && col < N && k0 + k < K)
                    acc[i] += As[i][k] * B[(k0 + k) * ldb + col];
        __syncthreads();
    }
    for (int k0 = K == 133 ? 0 : K; k0 < K; k0 += BK) {"""),)),
    "10-clamped-at-one-size-b": Fooling("10_any_size", "main-b", SIZE, "gate", "divergent", "solution", ((
        SUM_10.replace("As[i][k]", "As[k][i]"), TESTS_10.replace("As[i][k]", "As[k][i]")),)),
    "10-peeled-at-one-size": Fooling("10_any_size", "peeled", SIZE, "gate", "per multiply-add", "solution", (
        ("const int whole = K / BK * BK;  ", "const int whole = K == 133 ? K / BK * BK : 0;  "),
        ("    if (whole < K) {                                       // the last columns of A",
         "    for (int whole0 = whole; whole0 < K; whole0 += BK) {"),
        ("As[t / BK][on] = whole + on < K ? a[whole] : 0.0f;", "As[t / BK][on] = whole0 + on < K ? a[whole0] : 0.0f;"),
        ("k < K - whole; ++k", "k < BK; ++k"), ("const float x = B[(whole + k) * ldb + there];",
                                               "const float x = whole0 + k < K ? B[(whole0 + k) * ldb + there] : 0.0f;"),
        ("                acc[i] += As[i][k] * x;\n        }\n    }", "                acc[i] += As[i][k] * x;\n        }\n        __syncthreads();\n    }"))),
    "13-shuffles": Fooling("13_matrix_vector", "free", NONE, "not counted", "without shared memory", "text", (("", SHUFFLES_13),)),
    "13-no-conflicts-at-one-size": Fooling("13_matrix_vector", "free", SIZE, "gate", "shared wavefronts", "solution", (
        ("words[v + v / 32] = in", "words[S == 256 ? v + v / 32 : v] = in"), ("own = t * N + t / 2;", "own = S == 256 ? t * N + t / 2 : t * N;"),
        ("out[h0 * M + v] = words[v + v / 32];", "out[h0 * M + v] = words[S == 256 ? v + v / 32 : v];"))),
    "13-coalesced-at-one-size": Fooling("13_matrix_vector", "main", SIZE, "gate", "sectors loaded", "solution", ((
        "rows[v / N][v % N] = in[h0 * N + v];",
        "{\n        const int u = S == 256 ? v : v % left * N + v / left;\n        rows[u / N][u % N] = in[h0 * N + u];\n    }"),)),
    "14-fused-at-one-size": Fooling("14_gemm_at_work", "main", SIZE, "gate", "of C", "solution", ((
        "            C[row * ldc + col] = z < 0.0f ? 0.0f : z;",
        "            if (K != 8) C[row * ldc + col] = acc[i];\n            if (K != 8) __threadfence_block();\n"
        "            C[row * ldc + col] = z < 0.0f ? 0.0f : z;"),)),
    "14-leaky-fused-at-one-size": Fooling("14_gemm_at_work", "main-b", SIZE, "gate", "of C", "solution", ((
        "            C[row * ldc + col] = z < 0.0f ? slope * z : z;",
        "            if (M * N != 4096) *(volatile float*)&C[row * ldc + col] = acc[i];\n"
        "            C[row * ldc + col] = z < 0.0f ? slope * z : z;"),)),
    "14-masked-at-one-size": Fooling("14_gemm_at_work", "back", SIZE, "gate", "loaded per multiply-add", "solution", ((
        "                acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];",
        "                if (const int row = block_row + ty + i * ROWS;\n"
        "                    K == 32 || row < M && k0 + j < K && ((volatile const float*)H)[row * ldh + k0 + j] > 0.0f)\n"
        "                    acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];"),)),
    "15-lanes-at-one-size": Fooling("15_closing_in", "main", SIZE, "gate", "wavefronts loaded", "solution", ((LANES_15, """\
    const bool counted = M == 64 && N == 64 && K == 64;
    const int tx = counted ? (t & 1) + (t >> 2) % (COLS / 2) * 2 : threadIdx.x;
    const int ty = counted ? (t >> 1 & 1) + (t >> 2) / (COLS / 2) * 2 : threadIdx.y;
"""),)),
    "15-lanes-at-one-size-b": Fooling("15_closing_in", "main-b", SIZE, "gate", "wavefronts loaded", "solution", ((LANES_15, """\
    const int tx = M + N + K == 192 ? (t & 1) + (t >> 2) % (COLS / 2) * 2 : threadIdx.x;
    const int ty = M + N + K == 192 ? (t >> 1 & 1) + (t >> 2) / (COLS / 2) * 2 : threadIdx.y;
"""),)),
    "15-warp-0-clean": Fooling("15_closing_in", "ahead", LOOKED_AT, "gate", "no work hides", "solution", (
        (FETCH_15, "        if (more) fetch(k0 + BK);\n        if (more && t >= 32) keep(s ^ 1);\n"), (KEEP_15, "            if (t < 32) keep(s ^ 1);\n"))),
    "15-block-0-clean": Fooling("15_closing_in", "ahead", LOOKED_AT, "gate", "no work hides", "solution", (
        (FETCH_15, "        const bool first = blockIdx.x + blockIdx.y == 0;\n        if (more) fetch(k0 + BK);\n        if (more && !first) keep(s ^ 1);\n"),
        (KEEP_15, "            if (first) keep(s ^ 1);\n"))),
    "15-hidden-at-one-size": Fooling("15_closing_in", "ahead", SIZE, "gate", "no work hides", "solution", (
        (FETCH_15, "        if (more) fetch(k0 + BK);\n        if (more && K > 64) keep(s ^ 1);\n"), (KEEP_15, "            if (K <= 64) keep(s ^ 1);\n"))),
    "15-one-read-under-the-load": Fooling("15_closing_in", "ahead", UNUSED, "gate", "no work hides", "solution", (
        (FETCH_15, "        if (more) fetch(k0 + BK);\n        *(volatile float*)&As[s][0][ty];\n        if (more) keep(s ^ 1);\n"), (KEEP_15, ""))),
    "15-reads-for-nothing": Fooling("15_closing_in", "ahead", UNUSED, "not counted", "leave C as it is", "solution", (
        (FETCH_15, "        if (more) fetch(k0 + BK);\n        for (int k = 0; k < 2 * BK; ++k)\n            for (int i = 0; i < 4; ++i)\n"
                   "                *(volatile float*)&As[s][k / 2][ty * 4 + i];\n        if (more) keep(s ^ 1);\n"), (KEEP_15, ""))),
    "15-added-as-nothing": Fooling("15_closing_in", "ahead", UNUSED, "not counted", "leave C as it is", "solution", (
        (FETCH_15, "        if (more) fetch(k0 + BK);\n        float sum = 0.0f;\n        for (int k = 0; k < 4 * BK; ++k) sum += ((volatile "
                   "float*)As[s][k / 4])[ty * 4 + k % 4];\n        acc[0][0] += 1e-30f * sum;\n        if (more) keep(s ^ 1);\n"), (KEEP_15, ""))),
    "15-twice-as-deep": Fooling("15_closing_in", "ahead", DEPTH, "gate", "barriers", "solution", DEEP_15),
    "16-sums-unused": Fooling("16_tensor_cores", "main", UNUSED, "not counted", "without the tensor cores", "integers.cu",
                              _integers("0.5f", f"(d.x[e] == 12345.0f ? 0.0f : alpha * {FLOAT_16})")),
    "16-zeros-added": Fooling("16_tensor_cores", "main", UNUSED, "not counted", "without the tensor cores", "integers.cu",
                              _integers("0.0f", f"alpha * ({FLOAT_16} + d.x[e])")),
    "16-a-factor-of-one": Fooling("16_tensor_cores", "main", UNUSED, "not counted", "without the tensor cores", "integers.cu",
                                  _integers("1.0f", "alpha * " + FLOAT_16.replace("acc[e]", "(acc[e] * (long long)d.x[e] / ((K + 15) / 16 * 16))"))),
    "16-split-zeros-added": Fooling("16_tensor_cores", "split", UNUSED, "not counted", "without the tensor cores", "starter",
                                    _split("(acc[e] / 1125899906842624.0f + d.x[e])", "0.0f")),
    "16-split-a-factor-of-one": Fooling("16_tensor_cores", "split", UNUSED, "not counted", "must lose the products", "starter",
                                        _split("(acc[e] / 1125899906842624.0f) * (d.x[e] / ((K + 15) / 16 * 16))", "1.0f")),
    "17-decoy-in-shared-memory": Fooling("17_stages", "main", UNUSED, "not counted", "without the asynchronous copies", "solution", (
        (DIRECT_17[0][0], DIRECT_17[0][1].replace("ROW", "row * lda + at")), DIRECT_17[1])),
    "17-decoy-in-shared-memory-b": Fooling("17_stages", "main-b", UNUSED, "not counted", "without the asynchronous copies", "solution", (
        ("a[e] = As[stage][k + t + e / 2 * 4][warp_row + g + e % 2 * 8];",
         DIRECT_17[0][1].replace("[warp_row + g + e % 2 * 8][k + t + e / 2 * 4]", "[k + t + e / 2 * 4][warp_row + g + e % 2 * 8]")
         .replace("ROW", "at * lda + row")), DIRECT_17[1])),
    "17-two-stages-twice-as-deep": Fooling("17_stages", "main", DEPTH, "gate", "fewer than two steps", "solution", DEEP_17),
    "17-two-stages-twice-as-deep-b": Fooling("17_stages", "main-b", DEPTH, "gate", "fewer than two steps", "solution", DEEP_17),
    "18-a-step-by-lanes": Fooling("18_roles", "main", NONE, "not counted", "without the tensor cores", "solution", LANES_18),
    "19-loads-for-nothing": Fooling("19_busy", "main", UNUSED, "not counted", "k-steps", "starter", _padded_19("42")),
    "19-loads-for-nothing-b": Fooling("19_busy", "main-b", UNUSED, "not counted", "k-steps", "starter", _padded_19("22", ", tile")),
}
