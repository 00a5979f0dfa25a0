"""How far the elements of a kernel's C are from the exact ones, and what its format allows."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.accuracy import magnitude, reference, tolerance
from course_lib.widgets.compute import inputs


def relative_errors(result: RunResult, A: NDArray[np.float32], B: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the error of each element of a result's C, with its sign, relative to the sum of the absolute values of its terms.

    >>> from types import SimpleNamespace
    >>> relative_errors(SimpleNamespace(C=np.float32([[12]])), np.float32([[1, 2]]), np.float32([[3], [4]])).round(3).tolist()
    [[0.091]]
    """
    return (np.asarray(result.C, np.float64) - reference(A, B)) / magnitude(A, B)


@style.styled
def draw_spread(errors: NDArray[np.float64], bounds: Mapping[str, float], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw how many elements of C have which relative error, on a logarithmic axis that stays where it is, and the bounds beside them.

    Parameters
    ----------
    errors
        Not negative, relative to the sum of the absolute values of all terms; smaller ones than 2**-34 are counted there.
    bounds
        By label, drawn as vertical lines.

    Returns
    -------
    Axes
        With a bar for each half power of two.
    """
    ax = style.axes(ax, width=7.0, height=4.2)
    edges = 2.0 ** np.arange(-34, -5.5, 0.5)
    ax.hist(np.clip(errors, edges[0], edges[-1]).ravel(), bins=edges.tolist(),
            weights=np.full(errors.size, 100 / errors.size), color=style.BLUE)
    for (label, bound), colour, line in zip(bounds.items(), (style.VERMILION, style.INK), ("--", "-"), strict=False):
        ax.axvline(bound, color=colour, linestyle=line, linewidth=2, label=f"{label}: {bound:.1e}")
    ax.set_xscale("log", base=2)
    ax.set(xlim=(edges[0], edges[-1]), xlabel="error / Σ |a| |b|", ylabel="% of the elements of C", title=title or "")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.18), fontsize=11, ncols=2)
    return ax


FORMATS = {"tf32": "TF32", "bf16": "bfloat16", "bf16x3": "split", "bf16x3 by 64": "split"}       # by `Kernel.inputs`


def error_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw how far the elements of C are from the product in float64, with what float32 and the kernel's own numbers allow."""
    A, B, _ = inputs(result.M, result.N, result.K, result.kernel.dtype)
    errors = np.abs(relative_errors(result, A, B))
    own = tolerance(result.K, inputs=result.kernel.inputs)
    bounds = {"bound, float32": tolerance(result.K)} | ({f"bound, {FORMATS[result.kernel.inputs]}": own} if result.kernel.inputs else {})
    title = f"{result.kernel.name}, K = {result.K}"
    said = ", ".join(f"{name} {value:.1e}" for name, value in bounds.items())
    return (draw_spread(errors, bounds, style.axes(width=5.9, height=4.2), title=title),
            f"Errors of the elements of C, {title}: median {np.median(errors):.1e}, largest {errors.max():.1e}; {said}.")
