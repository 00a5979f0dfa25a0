"""Errors of instructions of a warpgroup: warps that do not come, operands that differ, registers that are not there."""

from course_lib.simt.errors import DivergentBarrier, InvalidOperand, OutOfBounds, SimtError
from course_lib.simt.host.fault_places import Facts, place
from course_lib.simt.host.running import Running
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import Fault

FAULTS = frozenset({Fault.NO_WARPGROUP, Fault.PRODUCTS_DIFFER, Fault.TOO_MANY_PRODUCTS, Fault.DESCRIPTOR_OUTSIDE, Fault.STUCK_WARPGROUP,
                    Fault.REGISTERS_MISUSE})
LANES_OF_WARP, INSTRUCTION = range(2)      # runtime/warpgroup.cuh: what differs between products that should be one
ENDED = 0xFFFFFFFF


def explain(fault: int, run: Running, value: int, ins: Instruction, facts: Facts) -> SimtError:
    """Return the exception for a fault; `value` is what the runtime found, in an upper and a lower half."""
    above, below = value >> 32, value & 0xFFFFFFFF
    if fault == Fault.NO_WARPGROUP:
        return alone(run, value, ins, facts)
    if fault == Fault.STUCK_WARPGROUP:
        return stuck(run, above, below, ins, facts)
    if fault == Fault.DESCRIPTOR_OUTSIDE:
        hint = " In a cluster, an address has its block's rank from bit 24 on: make the descriptor from address & 0x3ffff." \
            if run.launch.cluster_blocks > 1 else ""
        return OutOfBounds(
            f"{place(facts)}: a matrix descriptor of {ins.name} leads to address {value:#x} of shared memory, where the block has bytes "
            f"{run.program.shared_begin:#x} to {run.program.shared_begin + run.shared_bytes - 1:#x}. Check the start address and the two "
            f"offsets: they are given in units of 16 bytes.{hint}", array="shared", bounds=(0, run.shared_bytes), **facts)
    if fault == Fault.TOO_MANY_PRODUCTS:
        why = f"would be product {value + 1} under way, and the simulator keeps {value}: put wgmma.wait_group into the loop"
    elif fault == Fault.REGISTERS_MISUSE:
        why = (f"asks for {ins.operands[0].value} registers, and the thread has {value}: .inc raises their number and .dec lowers it")
    elif below == LANES_OF_WARP:
        why = "has another descriptor or scale-d than thread 0 of its warp. Compute all of them from the warpgroup's number alone"
    elif below == INSTRUCTION:
        facts["other_line"] = run.program.instructions[above].line
        why = (f"is not what another warp of its warpgroup executes, which is at line {facts['other_line']}. All four warps must execute "
               "the same products in the same order")
    else:
        why = (f"has another descriptor or scale-d than warp {above} of its warpgroup. All four warps name the whole matrices; each gets "
               "its 16 rows by itself")
    return InvalidOperand(f"{place(facts)}: {ins.name} {why}.", operation=ins.name, value=value, **facts)


def alone(run: Running, value: int, ins: Instruction, facts: Facts) -> DivergentBarrier:
    """Return the error of a product that not all four warps execute; `value`: 1 + a warp that never does, 0: the block has not so many."""
    if not value:
        return DivergentBarrier(
            f"{place(facts)} executes {ins.name}, for which its warpgroup needs four whole warps: 128 threads that begin at a multiple of "
            f"128. The block has {run.threads}.", **facts)
    return DivergentBarrier(
        f"{place(facts)} executes {ins.name}, and warp {value - 1} of its warpgroup never does. All four warps must come to it: move it "
        "out of the branch.", warp=value - 1, **facts)


def stuck(run: Running, other: int, below: int, ins: Instruction, facts: Facts) -> DivergentBarrier:
    """Return the error of a wait that nobody can end."""
    if ins.opcode[0] == "setmaxnreg":
        return DivergentBarrier(
            f"{place(facts)} waits at {ins.name} for {below // abi.LANES} more registers per thread that nobody gives back, and no warp "
            "can go on. Let other warps of the block lower theirs first, with setmaxnreg.dec.", **facts)
    if below == ENDED:
        where = "has ended"
    else:
        facts["other_line"] = run.program.instructions[below].line
        where = f"waits at line {facts['other_line']}"
    return DivergentBarrier(
        f"{place(facts)} waits at {ins.name} for a product that warp {other} of its warpgroup has not executed: that warp {where}, and no "
        "warp can go on. All four warps must execute the same products.", warp=other, **facts)
