"""The reader's own split of numbers: whether it is right, how fast a product of parts is, and what formats do with odd numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import cp
from course_lib.data import readings
from course_lib.model.number_formats import parts, round_to, round_to_eight
from course_lib.plots import Table
from course_lib.run import run

THREADS = 256
SIZES = {-6: "about 10⁻⁶", -3: "about 10⁻³", 0: "about 1", 3: "about 10³", 6: "about 10⁶"}      # powers of 10
ODD = {"1/3": 1 / 3, "500": 500.0, "100,000": 1e5, "0.001": 1e-3, "10⁻³⁰": 1e-30, "10⁻⁴⁰": 1e-40, "3.4 · 10³⁸": 3.4e38, "Inf": np.inf}


def check_parts(text: str) -> str:
    """Launch the reader's `split` on 1,000 numbers, and say whether both parts are right, or which number is the first that is not."""
    rng = np.random.default_rng(20)
    x = (rng.standard_normal(1000) * 10.0 ** rng.integers(-20, 20, 1000)).astype(np.float32)
    found = [cp.full(x.shape, np.nan, np.float32) for _ in range(2)]
    cp.RawKernel(text, "split")((-(-len(x) // THREADS),), (THREADS,), (np.int32(len(x)), cp.asarray(x), *found))
    for name, mine, right in zip(("first", "second"), found, parts(x, 2), strict=True):
        wrong = np.flatnonzero(~(mine.get() == right))
        if len(wrong):
            i = wrong[0]
            return (f"wrong: {name}[{i}] is {mine.get()[i]:.9g}, but x[{i}] = {x[i]:.9g} has {right[i]:.9g} there "
                    f"({len(wrong)} of {len(x)} are wrong)")
    left = np.max(np.abs(x - found[0].get() - found[1].get()) / np.abs(x))
    return f"right: {len(x):,} numbers; what both parts leave is at most {left:.1e} of a number"


def beside_the_library() -> Table:
    """Return speeds and largest errors of sgemm_parts and of cuBLAS's float32, recorded in turns, by N."""
    found = readings("warpgroups")
    rows = []
    for row in found.find(kernel="sgemm_parts"):
        work = 2e-12 * row["M"] * row["N"] * row["K"]
        rows.append((f"{row['N']:,}", f"{work / row['library']:.0f}", f"{work / row['ours']:.0f}", f"{row['ratio']:.2f}",
                     f"{row['library_error']:.1e}", f"{row['error']:.1e}"))
    heads = ("N", "cuBLAS, TFLOP/s", "sgemm_parts, TFLOP/s", "times as fast", "error of cuBLAS", "error of sgemm_parts")
    return Table(heads, rows, f"float32, largest error / Σ |a| |b|, {found.label}; median of turns")


def odd_numbers() -> Table:
    """Return what each format makes of numbers that are too large, too small or infinite for one of them."""
    rows = []
    for label, value in ODD.items():
        x = np.float32(value)
        kept = [round_to(x, "tf32"), round_to(x, "bf16"), round_to_eight(x, "e4m3"), round_to_eight(x, "e5m2")]
        rows.append((label, *(f"{number:,.0f}" if 1 <= number < 1e6 else f"{number:.4g}" for number in map(float, kept))))
    return Table(("x", "TF32", "bfloat16", "E4M3", "E5M2"), rows, "The nearest number of each format; FP8 as cvt.rn.satfinite rounds")


def rows_in_e4m3() -> Table:
    """Return what becomes of a row of 64 random numbers of some size in E4M3, and of its product, without a scale and with one."""
    A, B = odd_products()["nothing"]
    found = []
    for power, label in SIZES.items():
        row = (A[:1] * 10.0**power).astype(np.float32)
        kept = np.abs(round_to_eight(row, "e4m3"))
        found.append((label, int(np.sum(kept == 0)), int(np.sum(kept == 448)),
                      *(judged(in_e4m3(row, B, scaled), row, B) for scaled in (False, True))))
    return Table(("numbers of the row", "became 0", "became ±448", "error of the product", "error with scales"), found,
                 "64 numbers of a row of A in E4M3, and the largest error / Σ |a| |b| of its product with B; sums exact")


KERNELS = ("sgemm_naive", "sgemm_mma", "sgemm_bf16", "sgemm_split")
TILE: dict[str, Any] = {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}


def odd_products() -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Return A (32, 64) and B (64, 32) by what is odd about them."""
    rng = np.random.default_rng(20)
    A, B = rng.standard_normal((32, 64), np.float32), rng.standard_normal((64, 32), np.float32)
    infinite = A.copy()
    infinite[3, 5] = np.inf
    sizes = 10.0 ** np.linspace(-6, 6, 32)[:, None]
    return {"nothing": (A, B), "rows of A from 10⁻⁶ to 10⁶": ((A * sizes).astype(np.float32), B), "one Inf in A": (infinite, B),
            "A about 10⁻⁴⁰, B about 10³⁷": ((A * 1e-40).astype(np.float32), (B * 1e37).astype(np.float32))}


def in_e4m3(A: NDArray[np.float32], B: NDArray[np.float32], scaled: bool = False) -> NDArray[np.float64]:
    """Return the product of A and B in E4M3 with exact sums; `scaled` divides each row of A and column of B by a scale of its own first."""
    with np.errstate(invalid="ignore"):
        rows = np.max(np.abs(A), axis=1, keepdims=True).astype(np.float64) / 448 if scaled else np.ones((len(A), 1))
        cols = np.max(np.abs(B), axis=0, keepdims=True).astype(np.float64) / 448 if scaled else np.ones((1, B.shape[1]))
        a, b = (round_to_eight((x / scale).astype(np.float32), "e4m3").astype(np.float64) for x, scale in ((A, rows), (B, cols)))
        return a @ b * rows * cols


def judged(C: NDArray[np.floating], A: NDArray[np.float32], B: NDArray[np.float32]) -> str:
    """Return the largest error of C relative to the sum of |a| |b|; where A has an infinity, what stands in its row of C instead.

    >>> A, B = np.float32([[1, 2]]), np.float32([[3], [4]])
    >>> judged(np.float32([[12]]), A, B), judged(np.float32([[np.nan]]), np.float32([[1, np.inf]]), B)
    ('9.1e-02', 'NaN')
    """
    a, b = A.astype(np.float64), B.astype(np.float64)
    rows = ~np.isfinite(a).all(axis=1)
    if not rows.any():
        return f"{float(np.max(np.abs(C - a @ b) / (np.abs(a) @ np.abs(b)))):.1e}"
    found = C[rows]
    return "NaN" if np.isnan(found).all() else "Inf" if np.isinf(found).all() else "finite" if np.isfinite(found).all() else "mixed"


def odd_matrices() -> Table:
    """Return the error of each kernel, and of E4M3, for the products of `odd_products`."""
    rows = []
    for what, (A, B) in odd_products().items():
        found = [run(name, A, B, backend="sim", **(TILE if name != KERNELS[0] else {})).C for name in KERNELS]
        rows.append((what, *(judged(C, A, B) for C in (*found, in_e4m3(A, B), in_e4m3(A, B, scaled=True)))))
    return Table(("what is odd", "float32", "TF32", "bfloat16", "three parts", "E4M3", "E4M3, rows and columns scaled"), rows,
                 "Largest error / Σ |a| |b|, or the row of C that the Inf is in; kernels simulated, E4M3 rounded with exact sums")
