"""What a kernel's loops take at least to read the operands of their float32 multiply-adds, from machine code: a model of an H200."""

from dataclasses import dataclass, field

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.model.operands import OperandReads, operand_reads
from course_lib.toolchain import Loop, compile_cuda, inner_loop, loops, sass, whole_step

ARCH = "sm_90"             # of the device that was measured


@dataclass(frozen=True)
class KernelReads:
    """The operand reads of a kernel.

    Attributes
    ----------
    inner
        Of a turn of the innermost loop with the most multiply-adds.
    step
        Of the whole hot loop: a step along K where `whole_step` finds one, else the same as `inner`.
    parameters
        All of the kernel's.
    """

    kernel: str
    parameters: dict[str, int] = field(hash=False)
    inner: OperandReads
    step: OperandReads


def kernel_reads(kernel: str | Kernel, **parameters: int) -> KernelReads:
    """Count what a kernel's float32 multiply-adds read from the register banks, and with that the cycles that they take at least.

    Raises
    ------
    CourseError
        As `inner_loop`, and for a kernel of float64: no double-precision multiply-add was measured.

    >>> found = kernel_reads("sgemm_warp_tile")
    >>> found.inner.multiply_adds, round(found.inner.per_multiply_add, 2), round(found.step.tflops())
    (256, 1.15, 58)
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    if kernel.dtype == "float64":
        raise CourseError(f"{kernel.name} multiplies in float64: reads of operands were measured for float32 multiply-adds (FFMA) only, "
                          "not for DFMA", kernel=kernel.name)
    found = inner_loop(kernel, arch=ARCH, **parameters)
    inner, step = operand_reads(found.loop.instructions), whole_step(kernel, arch=ARCH, **parameters)
    if step is None or not step.rolled:
        return KernelReads(kernel.name, found.parameters, inner, inner)
    inside = {i.offset for i in step.inner.instructions}
    outside = [i for i in step.outer.instructions if i.offset not in inside and i.base == found.fma]
    around = operand_reads(outside, loop=False) if outside else OperandReads(0, 0, 0)
    return KernelReads(kernel.name, found.parameters, inner, inner.repeated(step.turns, around))


def loop_reads(kernel: str | Kernel, **parameters: int) -> tuple[tuple[Loop, OperandReads], ...]:
    """Return every loop of a kernel that holds an FFMA and no such loop within, each with its operand reads; in the order of the code.

    Raises
    ------
    CourseError
        For an unknown kernel or parameter.

    >>> [(loop.counts["FFMA"], reads.cycles) for loop, reads in loop_reads("micro_fma", STEPS=32)]
    [(32, 64)]
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    compiled = compile_cuda(kernel.source, name=kernel.file_name, arch=ARCH, defines=kernel.defines(**kernel.check(**parameters)))
    busy = [loop for loop in loops(sass(compiled, kernel.entry)) if loop.counts["FFMA"]]
    innermost = [loop for loop in busy if not any(other is not loop and other.within(loop) for other in busy)]
    return tuple((loop, operand_reads(loop.instructions)) for loop in innermost)
