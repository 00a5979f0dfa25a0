"""Turn a fault record of the runtime into an exception whose message says what happened, where, and what to look at."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.errors import (
    AssertionFailed,
    DivergentBarrier,
    InvalidOperand,
    InvalidTarget,
    KernelTrap,
    Misaligned,
    OutOfBounds,
    PartialWarp,
    SimtError,
    StackOverflow,
    StepBudgetExceeded,
)
from course_lib.simt.host import asynchronous, clusters, image_faults, map_faults, product_faults
from course_lib.simt.host.fault_places import Facts, callers_line, loop_line, place, waits_for_others
from course_lib.simt.host.lane_faults import barrier_fault, inactive_lane
from course_lib.simt.host.running import Running
from course_lib.simt.passes import callers, calls
from course_lib.simt.ptx.ir import Instruction, Kind, Reg
from course_lib.simt.report import DeviceArray
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import Fault

SPACE_NAMES = {number: name for name, number in abi.SPACES.items()}
ENDLESS = "Most likely a loop never ends: check that its variable changes and its condition can become false."
WAITS = ("Its loop waits for memory to change, and nothing changed it. Threads of one block get their turns, but blocks run one after "
         "another: a block may wait for an earlier one, never for a later one.")
WAITS_TOGETHER = ("Its loop waits for memory to change, and nothing changed it. All blocks of this grid get their turns; where it calls "
                  "grid.sync(), every block must come to each.")


def explain(run: Running, worker: Any) -> SimtError | KeyboardInterrupt:
    """Return the exception for the fault that an abi.Worker describes."""
    fault = Fault(worker.fault)
    block = tuple(worker.fault_block)
    thread = run.thread(worker.fault_warp * abi.LANES + worker.fault_lane)
    facts: Facts = {"kernel": run.kernel.name, "block": block, "thread": thread}
    if fault == Fault.STEP_BUDGET:
        facts["line"] = loop_line(run.program, worker.fault_code_block) or callers_line(run, worker)
        waits = waits_for_others(run.program, worker.fault_code_block)
        return StepBudgetExceeded(
            f"{place(facts)}: a warp has executed more than {run.max_steps:,} instructions and is still here. "
            f"{(WAITS_TOGETHER if run.together else WAITS) if waits else ENDLESS}",
            max_steps=run.max_steps, waits=waits, **facts)
    if fault == Fault.STOPPED:
        return KeyboardInterrupt()
    ins = run.program.instructions[worker.fault_access]
    facts["line"], header = ins.line, ins.header
    if not ins.line and (line := callers_line(run, worker)):
        facts["line"], header = line, header.partition(callers.CALLED)[0]
    if header:
        facts["header"] = header
    if fault == Fault.DIVERGENT_BARRIER:
        facts["other_line"] = run.program.instructions[worker.fault_address].line
        return DivergentBarrier(
            f"{place(facts)} waits at __syncthreads() while other threads of its warp wait at the one in line "
            f"{facts['other_line']}. Every thread of the block must reach the same barrier: move it out of the if or the loop.", **facts)
    if fault == Fault.BARRIER_MISMATCH:
        facts["other_line"] = run.program.instructions[worker.fault_address].line
        if any(not run.program.barriers[n].plain for n in (worker.fault_access, worker.fault_address)):
            return DivergentBarrier(
                f"{place(facts)} waits at {ins.name}, as another warp does in line {facts['other_line']}, and no warp can go on. "
                "As many threads as a barrier names must come to it, and all of the block where it names none.", **facts)
        return DivergentBarrier(
            f"{place(facts)} waits at __syncthreads() while other warps of its block wait at the one in line "
            f"{facts['other_line']}. Every thread of the block must reach the same barrier: move it out of the if or the loop.", **facts)
    if fault in (Fault.BARRIER_MISUSE, Fault.STUCK_LANES):
        return barrier_fault(fault, worker.fault_address, run, ins, facts)
    if fault == Fault.INACTIVE_LANE:
        return inactive_lane(run, worker, ins, facts)
    if fault in clusters.FAULTS:
        return clusters.explain(fault, run, worker, ins, facts)
    if fault in product_faults.FAULTS:
        return product_faults.explain(fault, run, worker.fault_address, ins, facts)
    if fault in image_faults.FAULTS:
        return image_faults.explain(fault, run, worker, ins, place(facts), facts)
    if fault == Fault.MAP_MISUSE:
        return map_faults.explain(run, worker.fault_address, ins, facts)
    if fault == Fault.OBJECT_MISUSE:
        return asynchronous.explain(run, worker, ins, facts)
    if fault in CALLS:
        return CALLS[fault](run, worker, ins, facts)
    if worker.fault_access in run.program.tensors and fault not in (Fault.OUT_OF_BOUNDS, Fault.MISALIGNED, Fault.READ_ONLY):
        return of_tensor(fault, run, worker, ins, facts)
    access = run.program.accesses[worker.fault_access]
    facts |= {"address": worker.fault_address, "width": access.width * access.count, "operation": ins.name}
    from_global = ins.opcode[0] == "cp" and (worker.fault_address >= abi.CONST_WINDOW) != ("bulk_group" in ins.opcode)
    verb = "writes" if access.kind and not from_global else "reads"
    if fault == Fault.MISALIGNED and ins.opcode[0] == "wmma":
        wanted = run.program.tensors[worker.fault_access].record.aligned
        return Misaligned(
            f"{place(facts)}: the matrix starts at address {worker.fault_address:#x}, which is no multiple of "
            f"{max(wanted, facts['width'])} bytes, as {ins.name} wants it. Declare shared arrays with __align__(32) and start tiles "
            "at such elements.", **facts)
    if fault == Fault.MISALIGNED:
        return Misaligned(
            f"{place(facts)} {verb} {facts['width']} bytes at address {worker.fault_address:#x}, which is no multiple of "
            f"{facts['width']}. A vector access needs an aligned address: check the index and the leading dimension.", **facts)
    if fault == Fault.READ_ONLY:
        array = nearest(run, worker.fault_address)
        assert array is not None        # only array arguments are ever read-only
        return OutOfBounds(f"{place(facts)} writes to {array.name}, which was given as a read-only array.", array=array.name, **facts)
    return out_of_bounds(run, access, ins, verb, facts)


def stack_overflow(run: Running, worker: Any, ins: Instruction, facts: Facts) -> StackOverflow:
    """Return the error of a thread whose frames do not fit its stack."""
    facts["limit"] = calls.STACK_BYTES
    return StackOverflow(
        f"{place(facts)} calls too deeply: {worker.fault_address} bytes of its stack are in use, and the next frame does not fit into "
        f"{calls.STACK_BYTES}. Check that the recursion ends, or make a loop of it.", **facts)


def invalid_target(run: Running, worker: Any, ins: Instruction, facts: Facts) -> SimtError:
    """Return the error of a call or a branch that leads nowhere."""
    if ins.kind is Kind.INDEXED_BRANCH:
        index = worker.fault_address
        return InvalidTarget(f"{place(facts)} branches to entry {index} of a shorter table.", index=index, **facts)
    known = run.program.linked.callees.values()
    if not isinstance(ins.operands[0], Reg):
        return calls.missing(ins, ins.operands[0].name)
    name = next((c.name for c in known if calls.FUNCTIONS_AT + 16 * c.number == worker.fault_address), None)
    what = f"the address {worker.fault_address:#x}, where no function lies" if name is None else \
        f"{name}, which takes or returns something else, or is not defined"
    return InvalidTarget(f"{place(facts)} calls {what}. Check that the pointer was set, and with a function of its own type.",
                         address=worker.fault_address, function=name, **facts)


def trap(run: Running, worker: Any, ins: Instruction, facts: Facts) -> KernelTrap:
    """Return the error of `trap` and `brkpt`."""
    return KernelTrap(f"{place(facts)} executed {ins.name}: the kernel stopped itself.", **facts)


def assertion(run: Running, worker: Any, ins: Instruction, facts: Facts) -> AssertionFailed:
    """Return the error of `__assertfail(message, file, line, function, size of a character)`; its parameters lie in the caller's frame."""
    warp = run.warp_address(worker, worker.fault_warp)
    values = []
    for offset, nbytes in ins.operands[1].params:
        values.append(int.from_bytes(ctypes.string_at(worker.fault_address + offset, nbytes), "little"))
    texts = [(run.output.string(warp, worker.fault_lane, values[i]) or b"").decode("utf-8", "replace") for i in (0, 1, 3)]
    facts |= {"line": values[2] or ins.line, "assertion": texts[0], "file": texts[1], "function": texts[2]}
    return AssertionFailed(f"{place(facts)}: the assertion `{texts[0]}` of {texts[2]} is false ({texts[1]}:{values[2]}).", **facts)


def heap_misuse(run: Running, worker: Any, ins: Instruction, facts: Facts) -> InvalidOperand:
    """Return the error of a pointer that cannot be freed."""
    return InvalidOperand(f"{place(facts)} frees {worker.fault_address:#x}, which malloc did not return, or which was freed before.",
                          operation="free", value=worker.fault_address, **facts)


CALLS: dict[int, Callable[[Running, Any, Instruction, Facts], SimtError]] = {
    Fault.STACK_OVERFLOW: stack_overflow, Fault.INVALID_TARGET: invalid_target, Fault.KERNEL_TRAP: trap,
    Fault.ASSERTION: assertion, Fault.HEAP_MISUSE: heap_misuse}


def of_tensor(fault: int, run: Running, worker: Any, ins: Instruction, facts: Facts) -> SimtError:
    """Return the exception for a fault that only matrix instructions and asynchronous copies have."""
    value = worker.fault_address
    if fault == Fault.PARTIAL_WARP:
        return PartialWarp(
            f"{place(facts)} is missing: all 32 threads of a warp must execute {ins.name} together. Move it out of the branch, and use "
            "whole warps in the block.", operation=ins.name, **facts)
    if fault == Fault.LANES_DIFFER:
        why = "has another address or stride than thread 0 of its warp: a matrix has one. Compute both from the warp's number alone"
    elif fault == Fault.STRIDE:
        wanted = run.program.tensors[worker.fault_access].record.aligned
        why = f"has the stride {value}: the matrix's rows must lie a multiple of {wanted} bytes apart. Choose another leading dimension"
    else:
        why = f"asks to read {value} bytes, which is more than the copy's size. Clamp it"
    return InvalidOperand(f"{place(facts)}: {ins.name} {why}.", operation=ins.name, value=value, **facts)


def space_name(access: Any, addresses: NDArray[np.int64]) -> str | None:
    """Return "global", "shared", "local" or "const" for an abi.Access; None for a barrier, which has none."""
    if access is None:
        return None
    name = SPACE_NAMES[access.space]
    if name == "generic":
        name = "global" if addresses.max() >= abi.CONST_WINDOW else "shared"
    return name


def nearest(run: Running, address: int) -> DeviceArray | None:
    """Return the array argument whose addresses lie closest to `address`, or None."""
    if not run.arrays:
        return None
    return min(run.arrays, key=lambda a: max(a.address - address, address - (a.address + a.nbytes - 1), 0))


def out_of_bounds(run: Running, access: Any, ins: Instruction, verb: str, facts: Facts) -> OutOfBounds:
    """Return the error of an access outside every array."""
    address, width = facts["address"], facts["width"]
    space = space_name(access, np.array([address]))
    if run.launch.cluster_blocks > 1 and (error := clusters.outside(run, access.space == abi.SPACES["shared"], ins, facts)):
        return error
    if space == "shared":
        size, address = run.shared_bytes, address % (1 << 32)
        lies = f"{address} of the block's {size} bytes of shared memory" if address < 1 << 31 else \
            f"{address - (1 << 32)}, in front of the block's shared memory"
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at byte {lies}: that is outside. Check the index against the "
                           "array's size.", array="shared", bounds=(0, size), **facts)
    if space == "local":
        return of_local(run.program.local_bytes, access.width, verb, facts)
    if space == "const":
        size = run.program.constant_bytes
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at byte {address} of {size} bytes of {space} memory.",
                           array=space, bounds=(0, size), **facts)
    if abi.HEAP <= address < abi.WORKSPACE:
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at address {address:#x}, which belongs to no allocation of malloc or new: "
                           "it lies outside of one, or in one that was freed.", array="heap", bounds=None, **facts)
    array = nearest(run, address)
    if array is None or abs(address - array.address) > 1 << 39:
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at address {address:#x}, where no array lies. Check that the "
                           "pointer was passed, and in the right order.", array=None, bounds=None, **facts)
    index = (address - array.address) // array.itemsize
    count = array.nbytes // array.itemsize
    below = " A negative index often comes from a row or column -1, or from a product above 2147483647, which an int does not hold."
    flat = max(*run.grid[1:], *run.block[1:]) == 1             # threads in one row: nothing says that the array is a matrix
    guard = "Guard the access." if flat else "Guard the access: in a matrix, row and column have a limit each."
    return OutOfBounds(
        f"{place(facts)} {verb} {array.name}[{index}], but {array.name} has {count} elements (0 … {count - 1}). "
        f"{guard}{below if index < 0 else ''}",
        array=array.name, index=index, bounds=(0, count), **facts)


def of_local(size: int, each: int, verb: str, facts: Facts) -> OutOfBounds:
    """Return the error of an access outside the local memory of a thread, where its local arrays lie; its elements have `each` bytes."""
    address, width = facts["address"], facts["width"]
    for bits in (64, 32):               # of the register that the address came from
        if 1 << bits - 1 <= address < 1 << bits:
            address -= 1 << bits
    where = "in front of" if address < 0 else "behind"
    return OutOfBounds(
        f"{place(facts)} {verb} {width} bytes at byte {address}, {where} the {size} bytes of its local arrays: as elements of {each} "
        f"bytes, [{address // each}] where 0 … {size // each - 1} are there. Check the index against the array's size.",
        array="local", bounds=(0, size), **facts | {"address": address})
