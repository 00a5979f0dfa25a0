"""The loops along K of a kernel that has several: whole tiles untested, tiles with tests, the last columns."""

from dataclasses import dataclass, field

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.toolchain.loops import Loop, loops
from course_lib.toolchain.nvrtc import compile_cuda
from course_lib.toolchain.sass import sass

UNTESTED, TESTED, FLAG, LAST = "untested tiles", "tested tiles", "tiles, with a flag", "last columns"


@dataclass(frozen=True)
class LoopAlongK:
    """One of the loops along K.

    Attributes
    ----------
    loop
        With the loop over a tile inside, where that was not written out.
    instructions, multiply_adds
        Of one turn, inner turns included; every instruction that stands there, also those that a jump may skip.
    """

    loop: Loop = field(repr=False)
    instructions: int
    multiply_adds: int

    @property
    def per_multiply_add(self) -> float:
        """Return the instructions for each multiply-add."""
        return self.instructions / self.multiply_adds

    @property
    def jumps(self) -> int:
        """Return the jumps of the body beside the one back."""
        return self.loop.counts["BRA"] - 1


def guard_loops(kernel: str | Kernel, *, arch: str = "sm_90", **parameters: int) -> dict[str, LoopAlongK]:
    """Find the loops along K in the machine code of Chien's methods or of Wang's `gemm_outputs`.

    Parameters
    ----------
    **parameters
        Of the kernel.

    Returns
    -------
    "untested tiles", "tested tiles" or "tiles, with a flag"; "last columns" where these have a loop of their own.

    Raises
    ------
    CourseError
        For a kernel of another family.

    >>> list(guard_loops("sgemm_volkov")), list(guard_loops("sgemm_method6"))
    (['untested tiles'], ['tiles, with a flag', 'last columns'])
    >>> loops_of = guard_loops("sgemm_method5_v1")
    >>> loops_of["untested tiles"].multiply_adds, loops_of["last columns"].multiply_adds
    (256, 16)
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    if kernel.entry not in ("sgemm_outer", "gemm_outputs"):
        raise CourseError(f"{kernel.name} is none of Chien's methods and not Wang's last kernel", kernel=kernel.name)
    values = kernel.check(**parameters)
    fma = "DFMA" if kernel.dtype == "float64" else "FFMA"
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**values)), kernel.entry)
    busy = [loop for loop in loops(code) if loop.counts[fma]]
    tiled = sorted((_turn(loop, busy, fma, values) for loop in busy if loop.counts["BAR"]), key=lambda turn: turn.loop.counts["ISETP"])
    last = [_turn(loop, busy, fma, values) for loop in busy if not loop.counts["BAR"] and loop.depth == 1]
    names = (FLAG,) if values.get("SEL") else (UNTESTED, TESTED)
    return dict(zip(names, tiled, strict=False)) | ({LAST: last[0]} if last and values.get("GUARD") else {})


def _turn(loop, busy, fma, values):
    """Count one turn: a loop inside it runs until the tile is done."""
    inside = [x for x in busy if x is not loop and x.within(loop)]
    if not inside:
        return LoopAlongK(loop, loop.counts["instructions"], loop.counts[fma])
    inner = inside[0]
    once = values["TW"] * (values["TA"] // values["by"]) * (values["TB"] // values["bx"])
    turns = once // inner.counts[fma]
    return LoopAlongK(loop, loop.counts["instructions"] + (turns - 1) * inner.counts["instructions"], once)
