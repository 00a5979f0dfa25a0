"""The reader's own split of numbers: whether it is right, how fast a product of parts is, and what formats do with odd numbers."""

import numpy as np
from numpy.typing import NDArray

from course_lib import arch, cp
from course_lib.data import readings
from course_lib.lessons.few_bits.errors import as_power
from course_lib.model.number_formats import parts, round_to, round_to_eight
from course_lib.plots import Table
from course_lib.run import max_error

THREADS = 256
SIZES = {-6: "about 10⁻⁶", -3: "about 10⁻³", 0: "about 1", 3: "about 10³", 6: "about 10⁶"}      # powers of 10
ODD = {"1/3": 1 / 3, "500": 500.0, "100,000": 1e5, "0.001": 1e-3, "10⁻³⁰": 1e-30, "10⁻⁴⁰": 1e-40, "3.4 · 10³⁸": 3.4e38, "Inf": np.inf}


def check_parts(text: str) -> str:
    """Launch the reader's `split` on 1,000 numbers, and say whether both parts are right, or which number is the first that is not."""
    rng = np.random.default_rng(20)
    x = (rng.standard_normal(1000) * 10.0 ** rng.integers(-20, 20, 1000)).astype(np.float32)
    found = [cp.full(x.shape, np.nan, np.float32) for _ in range(2)]
    cp.RawKernel(text, "split")((-(-len(x) // THREADS),), (THREADS,), (np.int32(len(x)), cp.asarray(x), *found))
    for name, mine, right in zip(("part0", "part1"), found, parts(x, 2), strict=True):
        wrong = np.flatnonzero(~(mine.get() == right))
        if len(wrong):
            i = wrong[0]
            return (f"wrong: {name}[{i}] is {mine.get()[i]:.9g}, but x[{i}] = {x[i]:.9g} has {right[i]:.9g} there "
                    f"({len(wrong)} of {len(x)} are wrong)")
    left = np.max(np.abs(x - found[0].get() - found[1].get()) / np.abs(x))
    return f"right: {len(x):,} numbers; what both parts leave is at most 2 to the minus {-np.log2(left):.1f} of a number"


def peaks() -> tuple[float, float]:
    """Return the most TFLOP/s that FFMA gives on an H100 or H200, and a sixth of what tensor cores do in bfloat16."""
    h100 = arch.device("H100 SXM")
    return h100.peak_gflops / 1000, h100.peak_gflops_tensor("bf16") / 6000


def beside_the_library() -> Table:
    """Return speeds and shares of the peak of sgemm_parts and of cuBLAS's float32, recorded in turns, by N."""
    found = readings("warpgroups")
    rows = []
    for row in found.find(kernel="sgemm_parts"):
        work = 2e-12 * row["M"] * row["N"] * row["K"]
        speeds = (f"{work / row[who]:.0f} ({work / row[who] / peak:.0%})" for who, peak in zip(("library", "ours"), peaks(), strict=True))
        rows.append((f"{row['N']:,}", *speeds, f"{row['ratio']:.2f}"))
    return Table(("N", "cuBLAS", "sgemm_parts", "times as fast"), rows,
                 f"TFLOP/s in float32; {found.label}; median of turns. In brackets: cuBLAS as a share of {peaks()[0]:.0f} TFLOP/s, "
                 f"the peak of FFMA, and sgemm_parts of {peaks()[1]:.0f}, a sixth of the peak of bfloat16, both at 1980 MHz")


def odd_numbers() -> Table:
    """Return what each format makes of numbers that are too large, too small or infinite for one of them."""
    rows = []
    for label, value in ODD.items():
        x = np.float32(value)
        kept = [round_to(x, "bf16"), round_to_eight(x, "e4m3"), round_to_eight(x, "e5m2")]
        rows.append((label, *(f"{number:,.0f}" if 1 <= number < 1e6 else f"{number:.4g}" for number in map(float, kept))))
    return Table(("x", "bfloat16", "E4M3", "E5M2"), rows, "The nearest number of each format")


def rows_in_e4m3() -> Table:
    """Return what becomes of a row of 64 random numbers of some size in E4M3, and of its product, without a scale and with one."""
    rng = np.random.default_rng(20)
    A, B = rng.standard_normal((32, 64), np.float32), rng.standard_normal((64, 32), np.float32)
    found = []
    for power, label in SIZES.items():
        row = (A[:1] * 10.0**power).astype(np.float32)
        kept = np.abs(round_to_eight(row, "e4m3"))
        found.append((label, f"{np.sum(kept == 0)} / {np.sum(kept == 448)}",
                      *(as_power(max_error(in_e4m3(row, B, scaled), row, B)) for scaled in (False, True))))
    return Table(("numbers of the row", "became 0 / ±448", "error of the product", "error with scales"), found,
                 "64 numbers of a row of A in E4M3, and the largest error / Σ |a| |b| of its product with B; sums exact")


def in_e4m3(A: NDArray[np.float32], B: NDArray[np.float32], scaled: bool = False) -> NDArray[np.float64]:
    """Return the product of A and B in E4M3 with exact sums; `scaled` divides each row of A and column of B by a scale of its own first."""
    rows = np.max(np.abs(A), axis=1, keepdims=True).astype(np.float64) / 448 if scaled else np.ones((len(A), 1))
    cols = np.max(np.abs(B), axis=0, keepdims=True).astype(np.float64) / 448 if scaled else np.ones((1, B.shape[1]))
    a, b = (round_to_eight((x / scale).astype(np.float32), "e4m3").astype(np.float64) for x, scale in ((A, rows), (B, cols)))
    return a @ b * rows * cols
