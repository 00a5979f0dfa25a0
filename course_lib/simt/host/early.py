"""Compile CUDA C, and say within a moment when the simulator will refuse what comes out.

NVRTC gives the PTX away only together with the machine code, and the assembler may take half a minute for a large kernel. Where it takes
long, the front end is asked once more for the PTX alone, meanwhile: a kernel with an instruction that the simulator does not know is
refused as soon as that is there.
"""

import contextlib
import functools
import os
from collections.abc import Callable
from concurrent import futures

from course_lib.errors import CourseError
from course_lib.simt.errors import UnsupportedInstruction
from course_lib.toolchain.compiled import Compiled

PATIENCE_S = 3.0  # headers of NVIDIA take two; asking the front end twice would only slow such a launch down
MOST_AT_ONCE = 4

_under_way: dict[tuple, "futures.Future[Compiled]"] = {}


@functools.cache
def _pool():
    return futures.ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="nvrtc")


def _forget():
    _pool.cache_clear()
    _under_way.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)  # threads stay behind in the parent


def compile_early(key: tuple, whole: Callable[[], Compiled], ptx_alone: Callable[[], Compiled],
                  check: Callable[[Compiled], object]) -> Compiled:
    """Return `whole()`; where that takes long, let `check(ptx_alone())` refuse an instruction before.

    Parameters
    ----------
    key
        What tells this compilation from others: one that is still under way, for a kernel that was refused, is not begun again.

    Raises
    ------
    CourseError
        What `whole` raises; of what the other two raise only UnsupportedInstruction: on other faults the compiler has the first word.
    """
    working = _under_way.get(key)
    if working is None:
        working = _under_way[key] = _pool().submit(whole)
        working.add_done_callback(lambda _: _under_way.pop(key, None))
    with contextlib.suppress(futures.TimeoutError):
        return working.result(PATIENCE_S)
    try:
        check(ptx_alone())
    except UnsupportedInstruction:
        raise
    except CourseError:
        pass
    return working.result()
