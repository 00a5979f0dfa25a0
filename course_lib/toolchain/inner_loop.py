"""The loop in which a kernel spends its time, as machine code: what stands there for each multiply-add."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.toolchain.loops import Loop, loops
from course_lib.toolchain.nvrtc import compile_cuda
from course_lib.toolchain.sass import SassInstruction, sass

_REGISTER = re.compile(r"[-|~!]*R(\d+)\b")
_NO_RESULT = ("ST", "RED", "BAR", "BRA", "BSSY", "BSYNC", "NOP", "EXIT")
_PAIRS = ("DFMA", "DADD", "DMUL")


@dataclass(frozen=True)
class InnerLoop:
    """The loop with the most multiply-adds among those that have no other such loop within.

    Attributes
    ----------
    parameters
        All of them.
    fma
        "FFMA", or "DFMA" for float64.
    loop
        Its counts are of instructions that stand in the body. Where it jumps (`jumps`), a turn skips some or repeats some.
    """

    kernel: str
    parameters: dict[str, int] = field(hash=False)
    arch: str
    nvrtc_version: tuple[int, int]
    fma: str
    loop: Loop = field(repr=False)

    @property
    def multiply_adds(self) -> int:
        """Return the multiply-adds of a turn."""
        return self.loop.counts[self.fma]

    @property
    def jumps(self) -> int:
        """Return the jumps in the body beside the one back to its start: 0 when every turn executes everything once."""
        return self.loop.counts["BRA"] - 1

    @property
    def shared_words(self) -> int:
        """Return the 32-bit words a lane reads from shared memory in a turn."""
        return sum(i.bits or 0 for i in self.loop.instructions if i.base == "LDS") // 32

    @property
    def other(self) -> int:
        """Return the instructions that are neither multiply-adds nor loads or stores of shared or global memory."""
        counts = self.loop.counts
        return counts["instructions"] - sum(counts[name] for name in (self.fma, "LDS", "LDG", "STS", "STG"))

    def per_multiply_add(self, name: str) -> Fraction:
        """Return how many instructions `name` ("LDS", "LDS.128", "LDG", "instructions", …) stand there for a multiply-add.

        >>> str(inner_loop("sgemm_volkov").per_multiply_add("LDS.128"))
        '17/64'
        """
        return Fraction(self.loop.counts[name], self.multiply_adds)

    def factors_from(self, opcode: str) -> int:
        """Return how many factors of the multiply-adds were written by `opcode`: 0 to 2 for each multiply-add.

        A register keeps its writer until the next instruction in the body that writes it; one that nothing in the body
        writes has none. `.reuse` and a sign change nothing.

        >>> loop = inner_loop("sgemm_volkov")           # an element of A from global memory, one of B from shared
        >>> loop.multiply_adds, loop.factors_from("LDS"), loop.factors_from("LDG")
        (256, 256, 256)
        """
        writer: dict[int, str] = {}
        found = 0
        for turn in (0, 1):                              # the second turn knows what the first one left
            for instruction in self.loop.instructions:
                if turn and instruction.base == self.fma:
                    found += sum(r is not None and writer.get(r) == opcode for r in map(_register, instruction.operands[1:3]))
                for register in written_registers(instruction):
                    writer[register] = instruction.base
        return found


def inner_loop(kernel: str | Kernel, *, arch: str = "sm_90", **parameters: int) -> InnerLoop:
    """Find in a kernel's machine code the innermost loop with the most multiply-adds, of two alike the shorter.

    Parameters
    ----------
    arch
        The architecture whose machine code is read.
    **parameters
        Of the kernel; others keep their defaults.

    Raises
    ------
    CourseError
        For an unknown kernel or parameter, or a kernel without a loop of multiply-adds.

    >>> loop = inner_loop("sgemm_vectorized")            # 8 × 8 sums: 64 multiply-adds from 16 words
    >>> loop.multiply_adds, loop.shared_words, loop.loop.counts["LDS.128"], loop.other
    (64, 16, 4, 7)
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    if kernel.tensor_cores:
        raise CourseError(f"{kernel.name} multiplies with tensor cores: its loop has no multiply-adds of single lanes", kernel=kernel.name)
    values = kernel.check(**parameters)
    compiled = compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**values))
    fma = "DFMA" if kernel.dtype == "float64" else "FFMA"
    busy = [loop for loop in loops(sass(compiled, kernel.entry)) if loop.counts[fma]]
    if not busy:
        raise CourseError(f"{kernel.name} has no loop of multiply-adds in its machine code for {arch}: "
                          "all loops are written out, or it multiplies nothing", kernel=kernel.name)
    innermost = [loop for loop in busy if not any(other is not loop and other.within(loop) for other in busy)]
    best = min(innermost, key=lambda loop: (-loop.counts[fma], loop.counts["instructions"]))
    return InnerLoop(kernel.name, values, arch, compiled.nvrtc_version, fma, best)


def _register(operand):
    """Return the number of a register operand, or None: RZ, a constant, an address.

    >>> [_register(o) for o in ("R12", "-R4.reuse", "|R7|", "RZ", "c[0x0][0x210]", "[R6+0x10]", "P0")]
    [12, 4, 7, None, None, None, None]
    """
    found = _REGISTER.match(operand)
    return int(found[1]) if found else None


def written_registers(instruction: SassInstruction) -> Sequence[int]:
    """Return the registers that an instruction writes."""
    if instruction.base.startswith(_NO_RESULT) or not instruction.operands:
        return ()
    first = _register(instruction.operands[0])
    if first is None:
        return ()
    wide = instruction.base in _PAIRS or ".WIDE" in instruction.opcode or ".64" in instruction.opcode
    size = (instruction.bits or (64 if wide else 32)) // 32
    return range(first, first + max(size, 1))
