"""Does a launch depend on values that nobody has defined? It is repeated with others in their place, and compared.

Such values are the bytes of shared memory that are read before anybody has written them, and what a shuffle takes from a lane that takes
no part. If nothing differs, the answer holds for this input and for the values that were tried: zeros, which a GPU often leaves behind,
and two patterns that differ from word to word and from each other in every bit. It is no proof for other input or every value.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from course_lib.simt.errors import SimtError
from course_lib.simt.host import counters
from course_lib.simt.host.running import Running

SHARED, SHUFFLED = "uninitialised", "stray"      # kinds of findings, as `abi.HAZARDS` has them
ORDINARY = 0x7FBADBAD7FBADBAD   # what else stands in shared memory that nobody has written: NaN as a float and as a double, a large integer
STEP = 0xD1B54A32D192ED03
PATTERNS = ((0, 0), (0x9E3779B97F4A7C15, STEP), (0x61C8864680B583EA, 2**64 - STEP))     # of 8 bytes: the first, and the step to the next


def examine(run: Running, kinds: Collection[str], again: Callable[[int], Any]) -> dict[str, str]:
    """Return for SHARED and SHUFFLED, if they are among the kinds of findings, what differs when the values are others, "" for nothing.

    Parameters
    ----------
    run
        A launch that has ended well; its arrays are not yet the caller's.
    again
        (most warp instructions of a warp) -> the same launch, not yet executed.
    """
    return {kind: next(filter(None, (difference(run, again, kind, *pattern) for pattern in PATTERNS)), "")
            for kind in (SHARED, SHUFFLED) if kind in kinds}


def difference(run: Running, again: Callable[[int], Any], kind: str, first: int, step: int) -> str:
    """Return in a clause what differs when a launch is repeated with a pattern in place of the values of one kind; "" for nothing.

    Blocks that run side by side may differ without that, where they write to one place. So one worker has to confirm a difference.
    """
    workers = len(run.workers) if not run.together else 1
    found = compared(run, again, kind, first, step, workers)
    if not found or workers == 1:
        return found
    alone = again(run.max_steps)
    try:
        alone.execute(1, None)
        return compared(alone, again, kind, first, step, 1)
    except SimtError:
        return found
    finally:
        alone.release()


def compared(run: Running, again: Callable[[int], Any], kind: str, first: int, step: int, workers: int) -> str:
    """Repeat a launch with a pattern in place of the values of one kind; return what differs."""
    _, total, lines = counters.counted(run)
    other = again(total[counters.EXECUTED] + 1)      # more than any of its warps executed
    if kind == SHARED:
        other.launch.poison, other.launch.poison_step = first, step
    else:
        other.launch.stray, other.launch.stray_step, other.launch.stray_given = first & 0xFFFFFFFF, step & 0xFFFFFFFF, 1
    try:
        other.execute(workers, None)
        for array in run.given.memory.arrays:
            (mine, seen), (_, its) = run.given.memory.view(array), other.given.memory.view(array)
            if seen.tobytes() != its.tobytes():
                name = next((a.name for a in run.arrays if 0 <= a.address - mine.address < mine.host.nbytes), "an array")
                return f"{name} has other elements"
        if not np.array_equal(run.given.variables, other.given.variables):
            return "a __device__ variable has another value"
        if run.output.text() != other.output.text():
            return "the kernel prints something else"
        return "the counters are others" if counters.counted(other)[1:] != (total, lines) else ""
    except SimtError as error:
        return f"the launch fails ({type(error).__name__})"
    finally:
        other.release()
