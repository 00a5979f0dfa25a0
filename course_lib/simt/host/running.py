"""What the host's modules ask of a launch that runs or has ended; `simt.launch.Execution` is one."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.codegen.uniform.variant import UniformCode
from course_lib.simt.host.arguments import Arguments
from course_lib.simt.host.build import LoadedKernel
from course_lib.simt.host.images import Image
from course_lib.simt.host.limits import Triple
from course_lib.simt.host.output import Output
from course_lib.simt.host.workers import Worker
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.report import DeviceArray


class Running(Protocol):
    """One launch: its kernel, its memory as far as errors name it, and the workers with what they counted and found."""

    kernel: LoadedKernel
    program: Program
    uniform: UniformCode | None
    grid: Triple
    block: Triple
    threads: int
    arrays: list[DeviceArray]
    images: list[tuple[str, Image]]
    shared_bytes: int
    max_steps: int
    together: bool
    launch: Any
    stop: NDArray[np.uint32]
    heap: Any
    output: Output
    workers: list[Worker]
    given: Arguments
    influence: dict[str, str]

    def thread(self, linear: int) -> Triple:
        """Return (x, y, z) of a thread's number in its block."""

    def pin(self, thing: Any) -> int:
        """Keep a buffer alive; return its address."""

    def warp_address(self, worker: Any, index: int) -> int:
        """Return where a worker's warp lies."""
