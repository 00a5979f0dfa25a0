"""A whole step along K in machine code: the loop over a tile run to its end, with all that comes once per tile."""

import math
from collections import Counter
from dataclasses import dataclass

from course_lib.kernels import Kernel, get
from course_lib.toolchain.inner_loop import inner_loop
from course_lib.toolchain.loops import Loop, loops
from course_lib.toolchain.nvrtc import compile_cuda
from course_lib.toolchain.sass import sass


@dataclass(frozen=True)
class WholeStep:
    """One turn of the loop along K.

    Attributes
    ----------
    inner
        The innermost loop with the most multiply-adds; the same as `outer` where it was written out to its end.
    outer
        The loop along K around it.
    turns
        Of the inner loop, in one turn of the outer one.
    multiply_adds
        Of a thread, in one turn of the outer loop: one tile's, or those of several tiles where the compiler wrote this loop out too.
    fma
        "FFMA", or "DFMA" for float64.
    """

    inner: Loop
    outer: Loop
    turns: int
    multiply_adds: int
    fma: str

    @property
    def rolled(self) -> bool:
        """Tell whether the loop over the tile is still there."""
        return self.inner != self.outer

    @property
    def counts(self) -> Counter[str]:
        """Return the instructions of the step by opcode, as `Loop.counts`: those of the inner loop once for each turn.

        Every instruction of the loop counts, also those behind a branch that is rarely taken.
        """
        counts = Counter(self.outer.counts)
        for name, count in self.inner.counts.items():
            counts[name] += (self.turns - 1) * count
        return counts

    @property
    def per_multiply_add(self) -> float:
        """Return the instructions of the step for each multiply-add."""
        return self.counts["instructions"] / self.multiply_adds

    def shares(self) -> dict[str, float]:
        """Return what the instructions are there for, each for one multiply-add: a mapping of four names to numbers.

        "multiply-adds", "loads from shared memory", "the inner loop itself" (its counter, addresses, test and jump: 0 where
        the loop is gone), and "once per tile" (global loads, stores, barriers, the loop along K).

        >>> {name: float(n) for name, n in whole_step("sgemm_unrolled", UNROLL=1).shares().items()}
        {'multiply-adds': 1.0, 'loads from shared memory': 2.0, 'the inner loop itself': 5.0, 'once per tile': 1.9375}
        """
        total, work = self.counts, (self.fma, "LDS")
        around = self.inner.counts["instructions"] - sum(self.inner.counts[name] for name in work) if self.rolled else 0
        found = {"multiply-adds": total[self.fma], "loads from shared memory": total["LDS"], "the inner loop itself": self.turns * around}
        found["once per tile"] = total["instructions"] - sum(found.values())
        return {name: count / self.multiply_adds for name, count in found.items()}


def whole_step(kernel: str | Kernel, *, arch: str = "sm_90", per_tile: int | None = None, **parameters: int) -> WholeStep | None:
    """Find the loop along K of a tiled kernel, and how often the loop over the tile turns in it.

    Parameters
    ----------
    kernel, arch, **parameters
        As for `inner_loop`.
    per_tile
        Multiply-adds of a thread per tile, for a kernel whose parameters do not tell, such as a reader's own.

    Returns
    -------
    None for a kernel without tiles, one that is column-major, or one whose loops are built otherwise.

    Raises
    ------
    CourseError
        As `inner_loop`.

    >>> whole_step("sgemm_unrolled", UNROLL=4).turns, whole_step("sgemm_unrolled", UNROLL=16).turns, whole_step("sgemm_naive")
    (4, 1, None)
    >>> whole_step("sgemm_unrolled", TILE=8, UNROLL=8).multiply_adds          # two tiles: the compiler went on
    16
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    found = inner_loop(kernel, arch=arch, **parameters)
    values, inner = found.parameters, found.loop
    depth = next((values[name] for name in ("BK", "TW", "TILE") if name in values), None)
    if (depth or per_tile) is None or (kernel.kind, kernel.layout) != ("product", "row"):
        return None
    compiled = compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**values))
    around = [x for x in loops(sass(compiled, kernel.entry)) if inner.within(x) and x != inner]
    outer = min(around, key=lambda x: x.end - x.start, default=inner)
    once = per_tile or int(depth * _outputs(kernel, values))
    if found.multiply_adds % once == 0:                    # a loop around it is over something else: tiles of C, say
        return WholeStep(inner, inner, 1, found.multiply_adds, found.fma)
    if outer == inner or once % found.multiply_adds:
        return None
    return WholeStep(inner, outer, once // found.multiply_adds, once, found.fma)


def _outputs(kernel, values):
    """Return how many elements of C a thread computes."""
    if kernel.outputs_of:
        return kernel.outputs_of(values)
    many = math.lcm(*filter(None, kernel.block(**values)), *(v for v in values.values() if v)) * 4      # whole tiles, whatever the tile
    return many * many / (math.prod(kernel.block(**values)) * math.prod(kernel.grid(many, many, **values)))
