"""Errors of barriers and of lanes that wait for each other or read each other's values."""

from typing import Any

from course_lib.simt.errors import DivergentBarrier, InactiveLane, InvalidMask
from course_lib.simt.host.fault_places import Facts, place
from course_lib.simt.host.running import Running
from course_lib.simt.isa.warp import in_cuda
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import Fault, Misuse


def barrier_fault(fault: int, value: int, run: Running, ins: Instruction, facts: Facts) -> DivergentBarrier:
    """Return the error of named barriers and of lanes that wait for each other.

    `value` holds what the runtime found in its lower and upper half.
    """
    above, value = value >> 32, value & 0xFFFFFFFF
    if fault == Fault.STUCK_LANES or above == Misuse.NOT_IN_MASK:
        facts["mask"], name = value, in_cuda(ins)
        if fault != Fault.STUCK_LANES:
            return InvalidMask(
                f"{place(facts)} executes {name} with the mask {value:#010x}, which does not name its own lane. Every thread that "
                f"executes it must be in its mask: compute the mask with __ballot_sync before the branch.", value=value, **facts)
        other = run.program.instructions[above]
        facts["other_line"] = other.line
        return DivergentBarrier(
            f"{place(facts)} waits at {name} with the mask {value:#010x} for lanes that wait elsewhere, in line {other.line}. "
            f"All lanes that a mask names must reach {name} with the same mask.", **facts)
    why = {Misuse.NO_SUCH_BARRIER: f"names barrier {value}; a block has barriers 0 to 15",
           Misuse.NO_SUCH_COUNT: f"waits for {value} threads; the number must be a multiple of 32, from 32 to 1024",
           Misuse.MIXED_LANES: "names another barrier or number of threads than other lanes of its warp",
           Misuse.MIXED_COUNTS: f"gives another number of threads than the warps that came before ({value})",
           Misuse.PART_OF_WARP: f"arrives at barrier {value} with only a part of its warp; bar.arrive is for whole warps"}[above]
    return DivergentBarrier(f"{place(facts)} {why}.", value=value, **facts)


def inactive_lane(run: Running, worker: Any, ins: Instruction, facts: Facts) -> InactiveLane:
    """Return the error of a shuffle whose value comes from a lane that takes no part."""
    facts |= {"mask": worker.fault_address & 0xFFFFFFFF, "lane": worker.fault_address >> 32}
    why = absence(worker.fault_warp * abi.LANES + facts["lane"], facts["mask"], run.threads)
    return InactiveLane(
        f"{place(facts)} reads the value of lane {facts['lane']} with {in_cuda(ins)}, and that lane {why}: the value is undefined. "
        "Let the shuffle reach only lanes that execute it.", **facts)


def absence(thread: int, mask: int, threads: int) -> str:
    """Say why a lane took no part in a shuffle: `thread` is its number in the block, `mask` that of the lane that read it.

    >>> absence(48, 0xffffffff, 48), absence(5, 0xffffffff, 48), absence(5, 0x1f, 48)
    ('does not exist', 'has ended', 'is not in the mask 0x0000001f')
    """
    return "does not exist" if thread >= threads else "has ended" if mask >> thread % abi.LANES & 1 else f"is not in the mask {mask:#010x}"
