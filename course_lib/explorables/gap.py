"""Lesson 15's first explorable: the speed of its kernels as a share of the library's, over N, one kernel after another, as recorded."""

import functools
from typing import Any

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text

LIBRARY = "cuBLAS"
CURVES = {                  # in the order in which they appear: the recorded kernel, its name in the picture, its idea in a few words
    "sgemm_2d_tile": ("lesson 08", "8 × 8 outputs per thread"),
    "sgemm_vectorized": ("vectorized", "every load brings four words"),
    "sgemm_prefetched": ("prefetched", "the next tiles are on their way"),
    "fed": ("yours", "lanes in squares, loop unrolled"),
    "sgemm_stream_k": ("stream-K", "shares of work, best tile per N"),
}
ASKED, AT = "sgemm_vectorized", 4096            # the reader predicts the share of this kernel at this N


def share(kernel: str, N: int, what: str = "ratio") -> float:
    """Return a kernel's speed as recorded, in percent of the library's in the same run: the median, or a quartile, "ratio_low"."""
    row, = data.readings("closing").find(kernel=kernel, N=N)
    return round(100 * row[what], 1)


def sizes() -> list[int]:
    """Return the recorded sizes, rising."""
    return sorted(row["N"] for row in data.readings("closing").find(kernel=LIBRARY))


@functools.cache
def states() -> dict[str, Any]:
    """Return the curves as JSON takes them; a recording is read, and no kernel runs."""
    parts = {"share": "ratio", "low": "ratio_low", "high": "ratio_high"}
    curves = [{"kernel": kernel, "name": name, "idea": idea}
              | {key: [share(kernel, N, what) for N in sizes()] for key, what in parts.items()} for kernel, (name, idea) in CURVES.items()]
    return {"sizes": sizes(), "curves": curves, "asked": list(CURVES).index(ASKED), "at": sizes().index(AT),
            "label": data.readings("closing").label}


class Gap(Explorable):
    """Shares of the library's speed over N; made by `gap`."""

    name = "gap"
    title = "How close each kernel comes to the library"
    _esm = module_text("gap")

    def static_text(self) -> str:
        first, *others = states()["curves"]
        at = states()["at"]
        return (f"{self.title}: speed in percent of cuBLAS for {len(sizes())} sizes from N = {sizes()[0]} to {sizes()[-1]}, "
                f"{states()['label']}. The kernel of lesson 08 reaches {first['share'][at]:.0f} % at N = {sizes()[at]}; "
                f"{len(others)} more kernels follow. Run this cell to play it.")


def gap(N: int = AT) -> Gap:
    """Draw the kernels' shares of the library's speed, one curve after another; a slider moves along N.

    Parameters
    ----------
    N
        The size at which the line for reading stands at first; one of `sizes()`.
    """
    return Gap(states=states(), values={"n": sizes().index(N)})
