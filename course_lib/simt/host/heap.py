"""The device's heap, from which kernels allocate with malloc and new: 8 MB, as a GPU has unless the host asks for more."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.simt.host.memory import aligned
from course_lib.simt.passes.calls import HEAP
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.runtime import abi

BYTES = 8 << 20
UNIT = 16                        # bytes to which allocations are aligned
MOST = BYTES // UNIT             # allocations at a time


def wanted(program: Program) -> bool:
    """Say whether a kernel may allocate memory."""
    return any(name in program.linked.callees for name in HEAP)


def make(program: Program, pin: Callable[[Any], int]) -> Any:
    """Return the runtime's record of an empty heap, None when the kernel needs none; `pin` keeps a buffer alive and returns its address."""
    if not wanted(program):
        return None
    runs = np.zeros(MOST, np.uint32)
    runs[0] = 2 * MOST           # one run, not in use
    return abi.Heap(array=pin((abi.Array * MOST)()), most=MOST, next=abi.HEAP + 4096, host=pin(aligned(BYTES)), run=pin(runs), units=MOST,
                    site_bytes=program.site_bytes())
