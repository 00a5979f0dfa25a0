"""Grids whose blocks wait for each other, as in `grid.sync()` of cooperative groups: all are resident, and take turns on one thread.

A GPU launches such a grid only when all its blocks fit onto the multiprocessors at once; so does this module, for the default device.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import arch, toolchain
from course_lib.simt.errors import LaunchError
from course_lib.simt.host.build import LoadedKernel
from course_lib.simt.host.limits import Triple
from course_lib.simt.host.workers import Sharing, Worker
from course_lib.simt.isa.special import GRID_WORKSPACE, reserved

BYTES = 256     # of the memory where the blocks meet; the barrier of a grid is a counter at byte 4


def wanted(kernel: LoadedKernel, grid: Triple, threads: int, shared_bytes: int, asked: bool = False) -> bool:
    """Say whether that is `asked` for, or a kernel asks where its blocks meet, which is what `grid.sync()` does first.

    Raises
    ------
    LaunchError
        It does, and the grid does not fit onto the default device at once: how many blocks would.
    """
    syncs = any(name in kernel.program.slots for name in GRID_WORKSPACE)
    if not (syncs or asked):
        return False
    blocks, device = grid[0] * grid[1] * grid[2], arch.DEFAULT_DEVICE
    registers = toolchain.resources(kernel.cubin)[kernel.entry].registers if kernel.cubin else 0
    most = device.sms * blocks_on_one(device.limits, registers, threads, shared_bytes - reserved(kernel.program.slots))
    if blocks > most:
        why = "waits for all blocks of its grid (grid.sync())" if syncs else "is launched with its last block first"
        raise LaunchError(f"{kernel.name} {why}, so all {blocks:,} blocks must be resident at once; "
                          f"the {device.name} has room for {most:,} of them. Launch fewer blocks, and let each do more in a loop.",
                          blocks=blocks, limit=most)
    return True


def blocks_on_one(limits: arch.ChipLimits, registers: int, threads: int, shared_bytes: int) -> int:
    """Return how many blocks fit onto one multiprocessor; `registers`: of a thread, 0 when that is not known.

    >>> blocks_on_one(arch.LIMITS[9, 0], 32, 256, 0), blocks_on_one(arch.LIMITS[9, 0], 128, 256, 100_000)
    (8, 2)
    """
    warps = -(-threads // arch.WARP)
    shared = -(-shared_bytes // limits.shared_unit) * limits.shared_unit + limits.shared_reserved
    found = [limits.blocks, limits.warps // warps, limits.shared // max(shared, 1)]
    if registers:
        of_warp = -(-registers * arch.WARP // limits.register_unit) * limits.register_unit
        found.append(limits.registers // limits.warp_unit // of_warp * limits.warp_unit // warps)
    return min(found)


class AllSteps:
    """The step budgets of all blocks, which `workers.py` takes away to end a launch."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.workers = workers

    def __setitem__(self, where: slice, value: int) -> None:
        for worker in self.workers:
            worker.steps[where] = value


def run(run_together: Callable[[int, int], int], workers: Sequence[Worker], stop: NDArray[np.uint32],
        progress: Callable[[int, int], object] | None, stack_bytes: int) -> list[tuple[int, Any]]:
    """Run all blocks, one for each worker; return (block, record of its worker) of the one that met a fault, if any did."""
    addresses = np.array([worker.address for worker in workers], np.uint64)
    answer = 0

    def start(record: int, first: int, last: int) -> int:
        nonlocal answer
        answer = run_together(addresses.ctypes.data, len(workers))
        return int(answer != 0)

    first = workers[0]
    leader = Worker(first.record, first.arrays, first.hazards, first.records, AllSteps(workers))
    failed = Sharing(start, [leader], 1, stop, progress, stack_bytes).run()
    return [(answer - 1, workers[answer - 1].record)] if failed else []
