"""How far a kernel's C is from the exact one, over the number of terms of a sum, and what its format allows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.plots import style
from course_lib.run import max_error, resolve, run
from course_lib.run.accuracy import limit
from course_lib.widgets.explore import Control, Explore

COMPARED = ("sgemm_bf16", "sgemm_mma", "sgemm_naive", "sgemm_split")
FORMATS = dict(zip(COMPARED, ("bfloat16", "TF32", "float32", "three parts"), strict=True))
COLOURS = {"bfloat16": style.BLUE, "TF32": style.PURPLE, "float32": style.VERMILION, "three parts": style.GREEN}     # in every picture
SIDE = 16                              # rows and columns of C: all terms matter, more elements do not
TILE = {"BM": 16, "BN": 16, "BK": 16, "WM": 16, "WN": 16}
DEPTHS = (8, 32, 128, 512, 2048)
ONE_WAY = 0x6FFF                       # low bits that both round down: TF32 by 0xFFF of 0x1000 at most, bfloat16 by 0x6FFF of 0x8000
KINDS = ("random, both signs", "random, all positive", "all rounded down")
RAISED = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_power(x: float) -> str:
    """Write a number as a power of two, as the lesson writes every error.

    >>> as_power(2.0**-7), as_power(7e-4), as_power(0.0)
    ('2⁻⁷·⁰', '2⁻¹⁰·⁵', '0')
    """
    return "2" + f"{math.log2(x):.1f}".translate(RAISED) if x else "0"


@dataclass(frozen=True)
class Errors:
    """Errors of one kernel, relative to the sum of the absolute values of all terms: the largest of any element, by K.

    `bounds`: what `course_lib.run.accuracy` derives that they cannot exceed.
    """

    kernel: str
    errors: dict[int, float]
    bounds: dict[int, float]

    @property
    def label(self) -> str:
        """What the kernel multiplies, where that is known, and its name.

        >>> Errors("sgemm_mma", {}, {}).label
        'TF32: sgemm_mma'
        """
        return f"{FORMATS[self.kernel]}: {self.kernel}" if self.kernel in FORMATS else self.kernel


def matrices_of(kind: str, K: int, seed: int = 20) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
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


def describe_errors(found: Iterable[Errors]) -> str:
    """Return what `draw_errors` shows, in words."""
    words = []
    for e in found:
        first, last = min(e.errors), max(e.errors)
        words.append(f"{e.kernel} {as_power(e.errors[first])} at {first} and {as_power(e.errors[last])} at {last} (bounds "
                     f"{as_power(e.bounds[first])} and {as_power(e.bounds[last])})")
    return f"Largest error of C over K: {'; '.join(words)}."


@style.styled
def draw_errors(found: Sequence[Errors], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw errors over K, markers and a line for each kernel in its format's colour, and its bound dashed; both axes are logarithmic.

    Returns
    -------
    Axes
        With two lines for each kernel: the errors, then the bounds.
    """
    ax = style.axes(ax, width=5.6, height=5.2)
    drawn: list[tuple[float, Artist]] = []
    for i, e in enumerate(found):
        xs, colour = sorted(e.errors), COLOURS.get(FORMATS.get(e.kernel, ""), style.CYCLE[i])
        # an error of 0 has no point on this axis: the line leaves it out
        line, = ax.plot(xs, [e.errors[K] or np.nan for K in xs], marker=style.marker(i), color=colour, markeredgecolor=style.INK,
                        markeredgewidth=0.6, label=e.label)
        drawn.append((-(e.errors[xs[-1]] or np.nan), line))
        ax.plot(xs, [e.bounds[K] for K in xs], linestyle="--", color=colour, linewidth=1.6)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    xs = sorted({K for e in found for K in e.errors})
    ax.set_xticks(xs, [f"{K:,}" for K in xs])
    ax.minorticks_off()
    ax.grid(axis="y")
    ax.set(ylim=(2.0**-30, 2.0**-5), xlabel="K: terms of each sum", ylabel="largest error / Σ |a| |b|", title=title or "")
    ax.plot([], [], linestyle="--", color=style.GREY, linewidth=1.6, label="dashed: the bound")
    handles = [*(line for _, line in sorted(drawn, key=lambda pair: pair[0])), ax.lines[-1]]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(-0.1, -0.15))      # below: on a phone there is no place beside
    return ax


def error_facts(found: Sequence[Errors]) -> dict[str, str]:
    """Return what the table shows of errors: each kernel's largest K, and its share of the bound."""
    last = max(found[0].errors)
    return {f"{e.label}, K = {last:,}": f"{as_power(e.errors[last])}, {100 * e.errors[last] / e.bounds[last]:.2g} % of its bound"
            for e in found}


def error_sliders(kind: str = KINDS[0], names: Sequence[str | Kernel] = COMPARED) -> Explore:
    """Put a control on the numbers in A and B; every position runs the kernels for five K."""
    controls = (Control("numbers", "in A and B", KINDS, kind),)
    return Explore(controls, lambda numbers: errors_by_depth(names, numbers), facts=error_facts, doing="running on the simulator",
                   done="run on the simulator", picture=lambda found: (draw_errors(found), describe_errors(found)))
