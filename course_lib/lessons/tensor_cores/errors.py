"""How far a kernel's C is from the exact one, over the number of terms of a sum, and what its format allows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.plots import style
from course_lib.run import RunResult, max_error, resolve, run
from course_lib.run.accuracy import limit, magnitude, reference, tolerance
from course_lib.widgets.compute import inputs

SIDE = 16                              # rows and columns of C: all terms matter, more elements do not
TILE = {"BM": 16, "BN": 16, "BK": 16, "WM": 16, "WN": 16}
DEPTHS = (8, 32, 128, 512, 2048)
ONE_WAY = 0x6FFF                       # low bits that both round down: TF32 by 0xFFF of 0x1000 at most, bfloat16 by 0x6FFF of 0x8000
KINDS = ("random, both signs", "random, all positive", "all rounded down")


@dataclass(frozen=True)
class Errors:
    """Errors of one kernel, relative to the sum of the absolute values of all terms: the largest of any element, by K.

    `bounds`: what `course_lib.run.accuracy` derives that they cannot exceed.
    """

    kernel: str
    errors: dict[int, float]
    bounds: dict[int, float]


def matrices_of(kind: str, K: int, seed: int = 16) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return A (16, K) and B (K, 16), float32, of a kind of `KINDS`.

    Raises
    ------
    CourseError
        For another kind.

    >>> [x.shape for x in matrices_of("all rounded down", 8)]
    [(16, 8), (8, 16)]
    """
    if kind not in KINDS:
        raise CourseError(f"there are no numbers {kind!r}: {'; '.join(KINDS)}", kind=kind)
    rng = np.random.default_rng([seed, K])

    def matrix(*shape):
        if kind == KINDS[0]:
            return rng.standard_normal(shape, np.float32)
        if kind == KINDS[1]:
            return rng.random(shape, np.float32) + np.float32(0.5)
        return (0x3F800000 | rng.integers(0, 4, shape).astype(np.uint32) << 16 | ONE_WAY).view(np.float32)

    return matrix(SIDE, K), matrix(K, SIDE)


def errors_by_depth(names: Iterable[str | Kernel], kind: str = KINDS[0], depths: Iterable[int] = DEPTHS) -> tuple[Errors, ...]:
    """Run kernels on matrices of growing depth, on the simulator, and hold C to the product in float64.

    Parameters
    ----------
    kind
        Of `KINDS`.
    depths
        K.

    >>> found, = errors_by_depth(["sgemm_bf16"], depths=(16,))
    >>> 0 < found.errors[16] < found.bounds[16]
    True
    """
    made = {K: matrices_of(kind, K) for K in depths}
    return tuple(_errors_of(resolve(name), made) for name in names)


def _errors_of(kernel, made):
    tile: dict[str, Any] = TILE if kernel.inputs else {}
    errors = {K: max_error(run(kernel, A, B, backend="sim", **tile).C, A, B, inputs=kernel.inputs) for K, (A, B) in made.items()}
    return Errors(kernel.name, errors, {K: limit(A, kernel.inputs) for K, (A, _) in made.items()})


def relative_errors(result: RunResult, A: NDArray[np.float32], B: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the error of each element of a result's C, with its sign, relative to the sum of the absolute values of its terms.

    >>> from types import SimpleNamespace
    >>> relative_errors(SimpleNamespace(C=np.float32([[12]])), np.float32([[1, 2]]), np.float32([[3], [4]])).round(3).tolist()
    [[0.091]]
    """
    return (np.asarray(result.C, np.float64) - reference(A, B)) / magnitude(A, B)


def describe_errors(found: Iterable[Errors]) -> str:
    """Return what `draw_errors` shows, in words."""
    words = []
    for e in found:
        first, last = min(e.errors), max(e.errors)
        words.append(f"{e.kernel} {e.errors[first]:.1e} at {first} and {e.errors[last]:.1e} at {last} (bounds {e.bounds[first]:.1e} and "
                     f"{e.bounds[last]:.1e})")
    return f"Largest error of C over K: {'; '.join(words)}."


@style.styled
def draw_errors(found: Sequence[Errors], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw errors over K, markers and a line for each kernel, and its bound dashed in the same colour; both axes are logarithmic.

    Returns
    -------
    Axes
        With two lines for each kernel: the errors, then the bounds.
    """
    ax = style.axes(ax, width=7.7, height=4.8)
    drawn: list[tuple[float, Artist]] = []
    for i, e in enumerate(found):
        xs, colour = sorted(e.errors), style.CYCLE[i]
        # an error of 0 has no point on this axis: the line leaves it out
        line, = ax.plot(xs, [e.errors[K] or np.nan for K in xs], marker=style.marker(i), color=colour, markeredgecolor=style.INK,
                        markeredgewidth=0.6, label=e.kernel)
        drawn.append((-(e.errors[xs[-1]] or np.nan), line))
        ax.plot(xs, [e.bounds[K] for K in xs], linestyle="--", color=colour, linewidth=1.6)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    xs = sorted({K for e in found for K in e.errors})
    ax.set_xticks(xs, [f"{K:,}" for K in xs])
    ax.minorticks_off()
    ax.grid(axis="y")
    ax.set(ylim=(1e-9, 3e-2), xlabel="K: terms of each sum", ylabel="largest error / Σ |a| |b|", title=title or "")
    ax.plot([], [], linestyle="--", color=style.GREY, linewidth=1.6, label="bound, derived")
    style.legend_beside(ax, [*(line for _, line in sorted(drawn, key=lambda pair: pair[0])), ax.lines[-1]])
    return ax


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
