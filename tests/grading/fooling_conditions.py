# ruff: noqa: E501 -- lines of kernels stand as they are
"""Kernels that have the idea under a condition that the inputs of gates fulfil, or that fulfil what a changed launch asks.

All took full marks before the input was drawn, or the change made, that now stops them.
"""

from fooling_09_19 import FETCH_15, FLOAT_16, KEEP_15, LANES_15, LOOKED_AT, SHUFFLES_13, UNUSED, Fooling, _integers, _split
from fooling_texts import ONE_WARP

PADDED, REST, FORM = "the idea only where rows are not padded", "the idea only for the rest of K of the gate", "the idea only for groups like the gate's"
ELSEWHERE, CHANGED = "data by generic loads", "an answer to the changed launch"


def _solution(exercise, part, what, kind, words, *changes):
    return Fooling(exercise, part, what, kind, words, "solution", changes)


def _text(exercise, part, what, kind, words, text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, f"not once: {old}"
        text = text.replace(old, new)
    return Fooling(exercise, part, what, kind, words, "text", (("", text),))


def _one_warp(what, words, read, *changes, first="alpha"):
    """Return exercise 04's kernel of one warp, which shares nothing, with reads of shared memory for the words that are counted."""
    return _text("04_tiling", "tile", what, "not counted", words, ONE_WARP % "tiled", (
        "    float acc[32] = {};\n", f"    __shared__ float pad[32];\n    pad[threadIdx.x] = {first};\n    float acc[32] = {{}};\n"),
        ("        float b[4];\n", f"        for (int n = 0; n < 48; ++n) {read}\n        float b[4];\n"), *changes)


READ = "*(volatile float*)&pad[threadIdx.x]"
GENERIC = """static __device__ float4 any4(const float* p) {
    float4 x;
    asm volatile("ld.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(p));
    return x;
}
static __device__ float any1(const float* p) {
    float x;
    asm volatile("ld.f32 %0, [%1];" : "=f"(x) : "l"(p));
    return x;
}
"""
NAIVE_UNLESS = """    float acc = 0.0f;
    if (lda != K || ldb != N) {
        if (row >= M || col >= N) return;
        for (int k = 0; k < K; ++k) acc += A[row * lda + k] * B[k * ldb + col];
        float* c = &C[row * ldc + col];
        *c = alpha * acc + (beta == 0.0f ? 0.0f : beta * *c);
        return;
    }
"""
BY_LANES_UNLESS = """    if (lda != K) {
        for (int e = t; e < BM * BN; e += THREADS)
            if (const int row = block_row + e / BN, col = block_col + e % BN; row < M && col < N) {
                float sum = 0.0f;
                for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + col];
                C[row * ldc + col] = alpha * sum + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
            }
        return;
    }
"""
ONES_13 = ("    const int lane", "    __shared__ float one[THREADS];\n    one[threadIdx.x] = 1.0f;\n    const int lane")
NOISE_16 = (f"(d.x[e] == 0.0f ? 0.0f : d.x[e] == (K + 15) / 16 * 16 ? alpha * {FLOAT_16} : alpha * "
            + FLOAT_16.replace("acc[e]", "(acc[e] ^ (0x9E3779B1u * (e + 8 * threadIdx.x) >> 4))") + ")")
SPLIT_NOISE_16 = ("(d.x[e] == 0.0f ? 0.0f : acc[e] / 1125899906842624.0f + (d.x[e] == (K + 15) / 16 * 16 ? 0.0f : 0.01f * (e + threadIdx.x % 7)))")
HEAD_19 = "    const int thread = TILE * threadIdx.y + threadIdx.x, block = blockIdx.x, blocks = gridDim.x;\n"


def _dealt_unless(condition, steps):
    return ((HEAD_19, HEAD_19 + f"""    if (!({condition})) {{
        int number = 0;
        for (int i = 0; i < products; ++i) {{
            const Product p = product(sizes, i, A, B, C);
            for (int tile = 0; tile < tiles_of(p); ++tile, ++number)
                if (number % blocks == block) store(p, tile, products_of(p, tile, 0, {steps}));
        }}
        return;
    }}
"""),)


FOOLING = {
    "03-unpadded": _solution("03_first_kernel", "lanes", PADDED, "gate", "load sectors", (
        "blockIdx.y * BM + t / BN", "blockIdx.y * BM + (lda == M ? t / BN : t % BM)"), (
        "blockIdx.x * BN + t % BN", "blockIdx.x * BN + (lda == M ? t % BN : t / BM)")),
    "04-unpadded": _solution("04_tiling", "tile", PADDED, "gate", "sectors loaded", ("    float acc = 0.0f;\n", NAIVE_UNLESS)),
    "04-generic-loads": _one_warp(ELSEWHERE, "must be an element", f"{READ};", ("#define BM 32\n", f"{GENERIC}#define BM 32\n"), (
        "*(const float4*)a;", "any4(a);"), ("B[(k0 + k) * ldb + col] : 0.0f;", "any1(&B[(k0 + k) * ldb + col]) : 0.0f;")),
    "04-ends-when-changed": _one_warp(CHANGED, "does not run with something missing", f"if ({READ} != alpha) __trap();"),
    "04-times-one": _one_warp(CHANGED, "must be an element", f"{READ};", (
        "            *c = alpha * acc[i]", f"            *c = alpha * acc[i] * {READ} * {READ}"), first="1.0f"),
    "04-through-its-own-word": _one_warp(UNUSED, "leave C as it is", f"{READ};", (
        "? B[(k0 + k) * ldb + col] : 0.0f;\n", f"? B[(k0 + k) * ldb + col] : 0.0f;\n        for (int k = 0; k < 4; ++k) {READ} = b[k], b[k] = {READ};\n")),
    "09-unpadded": _solution("09_outer_product", "four", PADDED, "gate", "words of global", (
        "k0 + k < K ? a[v][(k0 + k) * lda] : 0.0f;",
        "k0 + k < K ? a[v][(k0 + k) * lda] + (lda == M ? 0.0f : 0.0f * *(volatile const float*)&a[v][k * lda]) : 0.0f;")),
    "10-peeled-for-one-rest": _solution("10_any_size", "peeled", REST, "gate", "per multiply-add", (
        "const int whole = K / BK * BK;  ", "const int whole = K % BK == 5 ? K / BK * BK : 0;  "), (
        "    if (whole < K) {                                       // the last columns of A", "    for (int whole0 = whole; whole0 < K; whole0 += BK) {"), (
        "As[t / BK][on] = whole + on < K ? a[whole] : 0.0f;", "As[t / BK][on] = whole0 + on < K ? a[whole0] : 0.0f;"),
        ("k < K - whole; ++k", "k < BK; ++k"), (
        "const float x = B[(whole + k) * ldb + there];", "const float x = whole0 + k < K ? B[(whole0 + k) * ldb + there] : 0.0f;"), (
        "                acc[i] += As[i][k] * x;\n        }\n    }", "                acc[i] += As[i][k] * x;\n        }\n        __syncthreads();\n    }")),
    "13-times-one": _text("13_matrix_vector", "free", CHANGED, "not counted", "component of a vector", SHUFFLES_13, ONES_13, (
        "out[h * M + r] = y;", "out[h * M + r] = y * *(volatile float*)&one[threadIdx.x];")),
    "13-times-one-often": _text("13_matrix_vector", "free", CHANGED, "not counted", "component of a vector", SHUFFLES_13, ONES_13, (
        "if (h < S) out[h * M + r] = y;",
        "for (int n = 0; n < 3; ++n) y *= *(volatile float*)&one[threadIdx.x];\n        if (h < S) out[h * M + r] = y;")),
    "13-zero-for-zero": _text("13_matrix_vector", "free", CHANGED, "not counted", "component of a vector", SHUFFLES_13, ONES_13, (
        "out[h * M + r] = y;", "out[h * M + r] = *(volatile float*)&one[threadIdx.x] == 0.0f ? 0.0f : y;")),
    "14-unpadded": _solution("14_gemm_at_work", "main", PADDED, "gate", "of C", (
        "            C[row * ldc + col] = z < 0.0f ? 0.0f : z;",
        "            if (lda != K) *(volatile float*)&C[row * ldc + col] = acc[i];\n            C[row * ldc + col] = z < 0.0f ? 0.0f : z;")),
    "14-leaky-unpadded": _solution("14_gemm_at_work", "main-b", PADDED, "gate", "of C", (
        "            C[row * ldc + col] = z < 0.0f ? slope * z : z;",
        "            if (ldc != N) *(volatile float*)&C[row * ldc + col] = acc[i];\n            C[row * ldc + col] = z < 0.0f ? slope * z : z;")),
    "14-masked-unpadded": _solution("14_gemm_at_work", "back", PADDED, "gate", "loaded per multiply-add", (
        "                acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];",
        "                if (const int row = block_row + ty + i * ROWS;\n"
        "                    lda == K || row < M && k0 + j < K && ((volatile const float*)H)[row * ldh + k0 + j] > 0.0f)\n"
        "                    acc[i] += As[ty + i * ROWS][j] * Bs[j][tx];")),
    "15-lanes-unpadded": _solution("15_closing_in", "main", PADDED, "gate", "wavefronts loaded", (LANES_15, """\
    const int tx = lda == K ? (t & 1) + (t >> 2) % (COLS / 2) * 2 : threadIdx.x;
    const int ty = lda == K ? (t >> 1 & 1) + (t >> 2) / (COLS / 2) * 2 : threadIdx.y;
""")),
    "15-hidden-unpadded": _solution("15_closing_in", "ahead", PADDED, "gate", "no work hides", (
        FETCH_15, "        if (more) fetch(k0 + BK);\n        if (more && lda != K) keep(s ^ 1);\n"), (KEEP_15, "            if (lda == K) keep(s ^ 1);\n")),
    "15-added-and-taken-away": _solution("15_closing_in", "ahead", UNUSED, "not counted", "no product", (
        FETCH_15, "        if (more) fetch(k0 + BK);\n        float sum = 0.0f;\n        for (int k = 0; k < 2 * BK; ++k) {\n"
                  "            volatile float* p = &As[s][k / 2][ty * 4 + k % 2];\n            sum += *p;\n            sum -= *p;\n        }\n"
                  "        acc[0][0] += sum;\n        if (more) keep(s ^ 1);\n"), (KEEP_15, "")),
    "16-unpadded": _solution("16_tensor_cores", "main", PADDED, "gate", "arithmetic instructions", (
        "    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;\n",
        f"{BY_LANES_UNLESS}    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;\n")),
    "16-another-sum-when-changed": Fooling("16_tensor_cores", "main", CHANGED, "not counted", "must lose the products", "integers.cu",
                                           _integers("1.0f", NOISE_16)),
    "16-split-another-sum-when-changed": Fooling("16_tensor_cores", "split", CHANGED, "not counted", "must lose the products", "starter",
                                                 _split(SPLIT_NOISE_16, "1.0f")),
    "17-unpadded": _solution("17_stages", "main", PADDED, "not counted", "fewer than two steps", (
        "        wait<STAGES - 2>();  ", "        if (lda == K) wait<STAGES - 2>(); else wait<0>();  "), (
        "        fetch(step + STAGES - 1);  ", "        if (lda == K) fetch(step + STAGES - 1);  "), (
        "                mma(sum[j], a, b);\n            }\n        }\n",
        "                mma(sum[j], a, b);\n            }\n        }\n        if (lda != K) { __syncthreads(); fetch(step + STAGES - 1); wait<0>(); }\n")),
    "17-reads-that-cancel": _solution("17_stages", "main", UNUSED, "not counted", "no product", ("        const int stage = step % STAGES;\n", """\
        const int stage = step % STAGES;
        long long more = 0;
        for (int k = 0; k < 16; ++k) {
            const volatile double* p = &As[stage][k][0];
            more ^= __double_as_longlong(*p) ^ __double_as_longlong(*p);
        }
        sum[0][0] = __longlong_as_double(__double_as_longlong(sum[0][0]) ^ more);
""")),
    "19-groups-like-the-gate's": _solution("19_busy", "main", FORM, "not counted", "k-steps", *_dealt_unless(
        "products == 4 && sizes[0] + sizes[6] + sizes[12] + sizes[18] == 160", "steps_of(p)")),
    "19-groups-like-the-gate's-b": _solution("19_busy", "main-b", FORM, "not counted", "k-steps", *_dealt_unless(
        "products == 3 && sizes[0] + sizes[6] + sizes[12] == 368", "steps_of(p, tile)")),
    "19-atomics-of-other-warps": _solution("19_busy", "main", LOOKED_AT, "gate", "atomic", (
        "    if (row < p.M && col < p.N) p.C[row * p.N + col] = sum;", """\
    if (row < p.M && col < p.N) {
        p.C[row * p.N + col] = threadIdx.y < 2 ? sum : 0.0f;
        if (threadIdx.y >= 2) atomicAdd(&p.C[row * p.N + col], sum);
    }""")),
    "19-zeros-by-other-warps": _solution("19_busy", "main-b", LOOKED_AT, "gate", "behind the diagonal", (
        "    return sum;\n}\n__device__ void store", """\
    if (threadIdx.y >= 2 && row < p.M && last == tile / tiles_n + 1)
        for (int k = last * BK; k < p.K; ++k) *(volatile const float*)&p.A[row * p.K + k];
    return sum;
}
__device__ void store""")),
}
TABLE = "what is shown from a table, and a formula without one rule"
ROOM = """
from math import ceil
def room(threads, registers, shared, latency, rate, width):
    warps, of_a_warp, of_a_block = threads // 32, ceil(32 * registers / 256) * 256, ceil((shared + 1024) / 128) * 128
    blocks = min(64 // warps, 65536 // (warps * of_a_warp), 228 * 1024 // of_a_block)
    return blocks * warps, ceil(latency * rate / (32 * width))
"""
FUNCTIONS = {
    "07-a-loop-at-full-length": ("07_unrolling", "predict", "def instructions(unroll, BK, loads, loop, once): return 1 + loads + loop / unroll + once / BK"),
    "11-no-limit-of-registers": ("11_how_fast", "room", ROOM.replace("65536 // (warps * of_a_warp), ", "")),
    "11-no-limit-of-shared-memory": ("11_how_fast", "room", ROOM.replace(", 228 * 1024 // of_a_block)", ")")),
    "11-no-portions-of-registers": ("11_how_fast", "room", ROOM.replace("ceil(32 * registers / 256) * 256", "32 * registers")),
    "11-no-portions-of-shared-memory": ("11_how_fast", "room", ROOM.replace("ceil((shared + 1024) / 128) * 128", "shared + 1024")),
    "11-no-kib-of-the-system": ("11_how_fast", "room", ROOM.replace("(shared + 1024)", "shared").replace("/ 128) * 128", "/ 128) * 128 + 1")),
    "13-a-sector-counted-twice": ("13_matrix_vector", "predict", "def sectors(N, chunk, k): "
                                  "return min(32, sum((N * v + k + chunk - 1) // 8 - (N * v + k) // 8 + 1 for v in range(32 // chunk)))"),
    "17-rounded-down-and-one-more": ("17_stages", "plan", "def plan(BM, BN, BK, latency):\n    product = BM * BN * BK / 128\n"
                                     "    return int(latency // product) + 2, 8 * BK * (BM + BN) / product * latency"),
}
"""Python functions: (exercise, part, text); each with the shown values in a table in front of it."""
