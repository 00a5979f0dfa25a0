"""What limits a product that was run: the roofs, the room on a multiprocessor, and what is under way there."""

import math
from dataclasses import dataclass

from course_lib.arch import SECTOR_BYTES, WARP, Device, device
from course_lib.model.bound import PORT_SECTORS, Bound, busiest, lower_bound, memory_roofs
from course_lib.model.latency import bytes_in_flight
from course_lib.model.occupancy import Occupancy
from course_lib.run.bound import one_block, tile_of, work_of
from course_lib.run.in_flight import most_in_flight
from course_lib.run.result import RunResult
from course_lib.run.shared_steps import shares_out_steps, step_counts

LOAD_LATENCY = 240.0       # cycles of a load that the L2 answers, about the least that `data/micro.json` records for an H200
FMA_LATENCY = 4.0          # cycles until a multiply-add's result can be used; `data/micro.json` records 3.99 for an H200


@dataclass(frozen=True)
class UnderWay:
    """Warp instructions of one kind, or bytes, under way on a multiprocessor: needed so that latency does not show, and there."""

    needed: float
    had: float

    @property
    def enough(self) -> bool:
        """Tell whether latency is hidden."""
        return self.had >= self.needed


@dataclass(frozen=True)
class LaunchLimits:
    """What limits a launch, modelled for a device.

    Attributes
    ----------
    bound
        The time that each part of the device needs at least.
    occupancy
        What would fit on a multiprocessor (SM).
    block_warps
        Warps of a block.
    given
        Blocks of this launch that the busiest SM gets in all.
    loads
        Global loads of the busiest SM; None where a warp does not load in every step along K.
    """

    on: Device
    bound: Bound
    occupancy: Occupancy
    block_warps: int
    given: int
    loads: UnderWay | None
    multiply_adds: UnderWay

    @property
    def blocks(self) -> dict[str, int]:
        """Return, by resource, the blocks that it alone would let the busiest SM hold; "this grid" is what the launch has for it."""
        return {**self.occupancy.limits, "this grid": self.given}

    @property
    def room(self) -> dict[str, int]:
        """Return `blocks` in warps, at most those that an SM has place for."""
        return {name: min(blocks * self.block_warps, self.on.limits.warps) for name, blocks in self.blocks.items()}

    @property
    def warps(self) -> int:
        """Return the warps that the busiest SM holds at a time."""
        return min(self.blocks.values()) * self.block_warps

    @property
    def filled_by(self) -> tuple[str, ...]:
        """Return the names in `blocks` of all that keeps the next block out."""
        return tuple(name for name, blocks in self.blocks.items() if blocks == min(self.blocks.values()))

    @property
    def busy(self) -> str:
        """Return the name of the longest term of the bound other than latency."""
        return max((name for name in self.bound.terms if name != "latency"), key=self.bound.terms.__getitem__)


def limits_of(result: RunResult, latency_cycles: float = LOAD_LATENCY, fma_latency: float = FMA_LATENCY) -> LaunchLimits:
    """Return the `LaunchLimits` of a product, modelled for the result's device.

    What must be under way is latency times rate (Little's law). The rate is that of the kernel when its slowest other part never
    waits. A warp has the loads of one step along K under way together, or of as many as it
    copies ahead (`Work.in_flight`), and one multiply-add for each output of a thread.

    Parameters
    ----------
    result
        As for `bound_of`; of a kernel that does its multiply-adds on the arithmetic units.
    latency_cycles, fma_latency
        Of a global load, and of a multiply-add.

    Raises
    ------
    CourseError
        As `bound_of`.

    >>> import numpy as np
    >>> from course_lib.run import run
    >>> ones = np.ones((64, 64), np.float32)
    >>> found = limits_of(run("sgemm_naive", ones, ones, backend="sim"))
    >>> found.warps, found.room["warps"], found.filled_by
    (8, 64, ('this grid',))
    """
    work, on = work_of(result), device(result.device)
    bound = lower_bound(work, on, latency_cycles)
    given, block_warps = busiest(work.blocks, on.sms), math.ceil(math.prod(result.block) / WARP)
    share, resident = work.share(on.sms), min(work.resident, given) * block_warps
    cycles = max(seconds for name, seconds in bound.terms.items() if name != "latency") * on.clock_mhz * 1e6
    requests, loads = result.count("requests"), None
    if work.rounds:
        together = requests / (work.blocks * block_warps) / work.rounds * work.in_flight
        loads = UnderWay(requests * share / cycles * latency_cycles, resident * together)
    outputs = math.prod(tile_of(result)) / math.prod(result.block)
    multiply_adds = UnderWay(work.fmas * share / cycles * fma_latency, resident * max(1.0, outputs))
    return LaunchLimits(on, bound, result.occupancy, block_warps, given, loads, multiply_adds)


def copies_under_way(result: RunResult, latency_cycles: float = LOAD_LATENCY) -> dict[str, UnderWay]:
    """Return the bytes of copies that must be under way on a multiprocessor to keep "L2" and "memory" busy, and those that are.

    Needed is what each delivers to one multiprocessor in a latency when all take as much (Little's law). There are, at most, the bytes that
    a block has asked for and not waited for, counted in a traced launch, for each of the blocks that the busiest multiprocessor holds.

    Parameters
    ----------
    result
        Of a row-major kernel with `cp.async`.
    latency_cycles
        Of a copy. The default is that of a load that the L2 answers; one from memory takes longer, and needs more under way.

    Raises
    ------
    CourseError
        For a kernel that waits for no asynchronous copy.

    >>> import numpy as np
    >>> from course_lib.run import run
    >>> found = copies_under_way(run("sgemm_double_buffered", *[np.ones((256, 256), np.float32)] * 2, backend="sim"))
    >>> found["L2"].had, round(found["L2"].needed)
    (8192, 9309)
    """
    on = device(result.device)
    roofs, port = memory_roofs(on), PORT_SECTORS * SECTOR_BYTES * on.clock_mhz / 1e3
    rates = {"L2": min(port, roofs.get("L2", math.inf) / on.sms), "memory": roofs["memory"] / on.sms}
    if shares_out_steps(result.kernel):
        step = step_counts(result.kernel, result.parameters, result.lda, result.ldb, result.device)
        block = round(step.in_flight * step.copied)
    else:
        block = most_in_flight(one_block(result))
    held = min(result.occupancy.blocks, busiest(math.prod(result.grid), on.sms))
    return {name: UnderWay(bytes_in_flight(rate, latency_cycles, on.clock_mhz), held * block) for name, rate in rates.items()}
