"""The sums of FP8: what a tensor core loses when it adds up many products of 8 bits, and what float32 additions in between save."""

import functools
from pathlib import Path

import numpy as np

from course_lib import simt
from course_lib.lessons.few_bits.errors import as_power
from course_lib.model.number_formats import round_to_eight
from course_lib.plots import Table

SOURCE = Path(__file__).with_name("fp8.cu")
DEPTHS = (128, 1024, 4096, 16384)
TERMS = 128                      # of a fresh sum; beside them all of K


@functools.cache
def errors(K: int) -> tuple[float, ...]:
    """Return the largest errors in E4M3, as shares of Σ |a| |b|: by rounding A and B, then by sums of 128 and of all K terms.

    The numbers are random and positive.
    """
    rng = np.random.default_rng([20, K])
    A, B = np.abs(rng.standard_normal((64, K), np.float32)), np.abs(rng.standard_normal((8, K), np.float32))
    a, b = (round_to_eight(x, "e4m3").astype(np.float64) for x in (A, B))
    exact, size = a @ b.T, np.abs(a) @ np.abs(b).T
    found = [exact - A.astype(np.float64) @ B.astype(np.float64).T]
    for terms in (TERMS, K):
        C = np.full((64, 8), np.nan, np.float32)
        simt.launch(SOURCE, "fp8", 1, 128, [np.int32(K), A, B, C], arch="sm_90a", defines={"TERMS": terms})
        found.append(C - exact)
    return tuple(float(np.max(np.abs(error) / size)) for error in found)


def sums_of_eight() -> Table:
    """Return the errors of rounding and of sums of positive numbers in E4M3, by K."""
    rows = [(f"{K:,}", *map(as_power, errors(K))) for K in DEPTHS]
    heads = ("K", "A and B rounded, sums exact", f"sums of {TERMS} terms", "one sum for all of K")
    return Table(heads, rows, "Largest error / Σ |a| |b| of positive numbers in E4M3; "
                 "in the last two columns of the sums alone; computed by the simulator")
