"""Kernels and loops of exercises 01 to 08 that reach a gate's number without the idea, and what they are told.

Each took full marks before the bound or the drawn input that now stops it. `answer` makes its text of the starter and the solution.
"""

from collections.abc import Callable
from dataclasses import dataclass

from answer_files import patched
from fooling_texts import (
    FOURS_DOWN,
    HIDDEN_READ,
    HIDDEN_SWAP,
    LANES_TILED,
    LANES_TWO_ROWS,
    NAIVE,
    ONE_WARP,
    USELESS_LOADS,
    WIDE_COARSE,
    WIDE_ONE_WARP,
    WIDE_TWOS,
    straight,
)


@dataclass(frozen=True)
class Attack:
    """One attempt: (starter, solution) -> text; `kind`, `says`: of the finding that it gets; `seed`: None where a student's check tells."""

    exercise: str
    part: str
    what: str
    answer: Callable[[str, str], str]
    kind: str
    says: str = ""
    seed: int | None = None


def only_if(condition: str) -> Callable[[str, str], str]:
    """Return a maker of loops that do the idea under a condition only."""
    return lambda starter, solution: f"if ({condition}) {{\n{solution}\n}} else {{\n{starter}\n}}\n"


def kernel_only_if(condition: str) -> Callable[[str, str], str]:
    """Return a maker of kernels whose body is the solution's under a condition, and the starter's otherwise; the heads must be the same."""
    def make(starter, solution):
        head, body = solution.split(") {\n", 1)
        other = starter.split(") {\n", 1)[1]
        return f"{head}) {{\n    if ({condition}) {{\n{body.rstrip().removesuffix('}')}        return;\n    }}\n{other}"

    return make


def text(source: str) -> Callable[[str, str], str]:
    """Return a maker of this very text."""
    return lambda starter, solution: source


def patch(changes: str, of: str = "solution") -> Callable[[str, str], str]:
    """Return a maker that changes the solution or the starter; see `answer_files.patched`."""
    return lambda starter, solution: patched(f"{solution if of == 'solution' else starter}\n", changes)


SIZE, ELSEWHERE, DILUTED, OUTSIDE = "only at the gate's size", "not counted", "useless accesses", "outside of loops"
FORM = "only for sizes and rows like the gate's"
WHOLE_LINES = "M % 16 == 0 && N % 16 == 0 && K % 16 == 0"


def padded(source: str) -> str:
    """Return the kernel of one warp with loads of shared memory that nobody needs."""
    return patched(source, """-    float acc[32] = {};
+    __shared__ float pad[32];
+    pad[threadIdx.x] = alpha;
+    float acc[32] = {};
-        float b[4];
+        for (int n = 0; n < 48; ++n) *(volatile float*)&pad[threadIdx.x];
+        float b[4];
""")


ATTACKS = {
    "stream_at_its_size": Attack("01_triple_loop", "stream", SIZE, only_if("M == 32 && N == 128 && K == 64"), "gate", seed=5),
    "stream_b_at_its_size": Attack("01_triple_loop", "stream-b", SIZE, only_if("M == 32 && N == 128 && K == 64"), "gate", seed=5),
    "strip_at_its_size": Attack("01_triple_loop", "strip", SIZE, only_if("M == 64 && N == 48 && K == 40"), "gate", seed=5),
    "block_at_its_size": Attack("02_cpu", "block", SIZE, only_if("M == 48 && N == 64 && K == 96"), "gate", seed=5),
    "block_b_at_its_size": Attack("02_cpu", "block-b", SIZE, only_if("M == 48 && N == 64 && K == 96"), "gate", seed=5),
    "rectangle_at_its_size": Attack("02_cpu", "rectangle", SIZE, only_if("M == 48 && N == 64 && K == 96"), "gate", seed=5),
    "lanes_tiled": Attack("03_first_kernel", "lanes", ELSEWHERE, text(LANES_TILED.replace("USELESS", "")), "bound", "shared"),
    "lanes_tiled_and_padded": Attack("03_first_kernel", "lanes", DILUTED, text(LANES_TILED.replace("USELESS", USELESS_LOADS)),
                                     "bound", "shared"),
    "lanes_two_rows": Attack("03_first_kernel", "lanes", ELSEWHERE, text(LANES_TWO_ROWS), "bound", "each of the"),
    "tile_one_warp": Attack("04_tiling", "tile", ELSEWHERE, text(ONE_WARP % "tiled"), "bound", "shared memory"),
    "tile_one_warp_and_padded": Attack("04_tiling", "tile", DILUTED, text(padded(ONE_WARP % "tiled")), "not counted", "must be an element"),
    "wide_one_warp": Attack("04_tiling", "wide", ELSEWHERE, text(WIDE_ONE_WARP), "bound", "shared memory"),
    "stage_one_warp": Attack("04_tiling", "stage", ELSEWHERE, text(ONE_WARP % "stage_a"), "bound", "shared memory"),
    "stores_diluted": Attack("05_coalescing", "main", DILUTED, lambda starter, solution: stores_diluted(solution), "bound", "stored"),
    "loads_diluted": Attack("05_coalescing", "main", DILUTED, text(FOURS_DOWN), "bound", "more than once"),
    "wide_coarse": Attack("05_coalescing", "wide", ELSEWHERE, text(WIDE_COARSE), "bound", "more of C"),
    "wide_twos": Attack("05_coalescing", "wide", "a larger tile instead", text(WIDE_TWOS), "bound", "float4"),
    "swap_at_its_size": Attack("06_bank_conflicts", "swap", SIZE, kernel_only_if("n == 64"), "gate", seed=5),
    "swap_b_at_its_size": Attack("06_bank_conflicts", "swap-b", SIZE, kernel_only_if("n == 64"), "gate", seed=5),
    "sums_at_its_size": Attack("06_bank_conflicts", "sums", SIZE, kernel_only_if("cols == 64"), "gate", seed=5),
    "swap_by_hidden_atomics": Attack("06_bank_conflicts", "swap", ELSEWHERE, text(HIDDEN_SWAP), "atomics"),
    "unrolled_at_its_size": Attack("07_unrolling", "main", SIZE, kernel_only_if("K == 256"), "gate", seed=5),
    "unrolled_beside_the_loop": Attack("07_unrolling", "main", OUTSIDE, text(straight("unrolled")), "bound", "instructions"),
    "unrolled_at_beside_the_loop": Attack("07_unrolling", "main-b", OUTSIDE, text(straight("unrolled_at", True)), "bound", "instructions"),
    "outputs_beside_the_loop": Attack("07_unrolling", "outputs", OUTSIDE, text(straight("outputs")), "bound", "instructions"),
    "naive": Attack("08_register_blocking", "main", ELSEWHERE, text(NAIVE % ("blocked", "", "", "row * lda + k")), "bound", "shared"),
    "naive_at": Attack("08_register_blocking", "main-b", ELSEWHERE, text(NAIVE % ("blocked_at", "", "", "k * lda + row")), "bound"),
    "naive_and_padded": Attack("08_register_blocking", "main", DILUTED, text(NAIVE % (
        "blocked", "__shared__ float pad[16][16]; pad[threadIdx.y][threadIdx.x] = 0.0f;",
        "if (k % 5 < 2) *(volatile float*)&pad[threadIdx.y][threadIdx.x];", "row * lda + k")), "bound", "global memory"),
    "stream_on_whole_lines": Attack("01_triple_loop", "stream", FORM, only_if(WHOLE_LINES), "gate", seed=5),
    "stream_b_on_whole_lines": Attack("01_triple_loop", "stream-b", FORM, only_if(WHOLE_LINES), "gate", seed=5),
    "coalesced_unpadded": Attack("05_coalescing", "main", FORM, kernel_only_if("lda == M"), "gate", seed=5),
    "coalesced_b_unpadded": Attack("05_coalescing", "main-b", FORM, kernel_only_if("lda == K"), "gate", seed=5),
    "swap_unpadded": Attack("06_bank_conflicts", "swap", FORM, kernel_only_if("lda == n"), "gate", seed=5),
    "sums_unpadded": Attack("06_bank_conflicts", "sums", FORM, kernel_only_if("ld_in == cols"), "gate", seed=5),
    "unrolled_unpadded": Attack("07_unrolling", "main", FORM, kernel_only_if("lda == K"), "gate", seed=5),
    "hidden_atomics": Attack("08_register_blocking", "main", ELSEWHERE, lambda starter, solution: hidden_reads(starter), "atomics"),
}


def stores_diluted(solution: str) -> str:
    """Return the repaired loads with the starter's store, down a column, and stores of a single lane that lower the average."""
    through = """    __shared__ float out[BM][BN];
    out[ty][tx] = acc;
    __syncthreads();
    const int r = block_row + tx, s = block_col + ty;
    if (r < M && s < N) {
        float* c = &C[r * ldc + s];
        const float old = beta == 0.0f ? 0.0f : beta * *c, x = alpha * out[tx][ty] + old;
        for (int n = 0; n < 3; ++n)
            if ((ty * BN + tx) % 32 == 0) *(volatile float*)c = x;
        *c = x;
    }
}
"""
    return solution.split("    if (row < M && col < N) {")[0] + through


def hidden_reads(starter: str) -> str:
    """Return the starter of 08 with its reads of shared memory in atomic operations behind a brace."""
    return HIDDEN_READ + starter.replace("acc += As[ty][k] * Bs[k][tx];", "acc += hidden(&As[ty][k]) * hidden(&Bs[k][tx]);")
