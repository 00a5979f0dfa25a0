"""What a launch can raise: every error is a SimtError and carries its facts as attributes."""

from course_lib import toolchain
from course_lib.errors import CourseError


class SimtError(CourseError):
    """Base class of everything that goes wrong in a simulated launch.

    `output`: what the kernel had printed before, where it had begun to run.
    """

    output: str


class CompileError(toolchain.CompileError, SimtError):
    """NVIDIA's compiler refused the source; `diagnostics` holds its messages."""


class PtxSyntaxError(SimtError):
    """The text is not PTX; `line` is the line of the PTX text."""


class UnsupportedInstruction(SimtError):
    """An instruction that the simulator does not know; `opcode` and `line` name it."""


class LaunchError(SimtError):
    """Grid, block, arguments or options do not fit the kernel."""


class OutOfBounds(SimtError):
    """An access outside every array; carries kernel, line, block, thread, address, array and its bounds."""


class Misaligned(SimtError):
    """An address that is no multiple of the access width; carries kernel, line, block, thread, address, width."""


class DivergentBarrier(SimtError):
    """Threads wait for others that do not come: at a barrier, or at an instruction between lanes (`__shfl_sync`) whose mask names them."""


class InvalidMask(DivergentBarrier):
    """A thread's mask does not name the thread itself, in `__syncwarp` or between lanes; carries kernel, line, block, thread, mask."""


class InactiveLane(SimtError):
    """A shuffle reads a lane that has ended, does not exist or is not in its mask; carries kernel, line, block, thread, lane, mask."""


class StackOverflow(SimtError):
    """Calls nested too deeply: a thread's frames do not fit its stack; carries kernel, line, block, thread, limit in bytes."""


class InvalidTarget(SimtError):
    """A call through a pointer that leads to no function that fits, or a branch through an index beyond its table."""


class KernelTrap(SimtError):
    """A thread executed `trap` (in CUDA C `__trap()`); carries kernel, line, block, thread."""


class AssertionFailed(SimtError):
    """An `assert` of the kernel was false; carries assertion, file, line, function, block, thread."""


class PartialWarp(SimtError):
    """A matrix instruction that not all 32 lanes of a warp execute together; carries kernel, line, block, and a missing thread."""


class InvalidOperand(SimtError):
    """An operand that the instruction does not allow: a stride, a copy's size, an address that differs between lanes."""


class MbarrierMisuse(SimtError):
    """An operation that an mbarrier or a bulk copy does not allow; carries kernel, line, block, thread, operation, value."""


class BarrierDeadlock(SimtError):
    """Threads wait at mbarriers or for their cluster, and nobody can let them go on; carries kernel, line, block, thread of one."""


class ClusterMisuse(SimtError):
    """The shared memory of a block that has ended, or a cluster's barrier used wrongly; carries kernel, line, block, thread, operation."""


class StepBudgetExceeded(SimtError):
    """A warp executed more instructions than `max_steps`: most likely an endless loop; `line` is where it was."""


def where(line: int, header: str) -> str:
    """Return how messages name a line of the reader's file and the place in a header whose code was inlined there.

    >>> where(6, ""), where(6, "mma.hpp, line 80"), where(0, "mma.hpp, line 80"), where(0, "")
    ('line 6', 'line 6 (in mma.hpp, line 80)', 'mma.hpp, line 80', '')
    """
    return f"line {line}{header and f' (in {header})'}" if line else header
