"""mbarriers and bulk copies of a launch: the memory in which a worker follows them, and what their errors say."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.simt.errors import BarrierDeadlock, MbarrierMisuse, SimtError
from course_lib.simt.host import clusters
from course_lib.simt.host.fault_places import Facts, place, variable_at
from course_lib.simt.host.memory import aligned
from course_lib.simt.host.running import Running
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import ObjectMisuse

# of the runtime; fence_proxy does nothing alone
FUNCTIONS = {"use_object", "arrive_behind_copies", "copy_bulk", "copy_box", "wait_bulk", "store_async"}
NAMED_BARRIERS = 16


def used(program: Program) -> bool:
    """Say whether a kernel has mbarriers or bulk copies."""
    return any(tensor.function in FUNCTIONS for tensor in program.tensors.values())


def add(worker: Any, program: Program, launch: Any, racecheck: bool, pin: Callable[[Any], int]) -> None:
    """Give an abi.Worker the memory for them, if it is used; for racecheck also what threads know and have read (runtime/clocks.cuh)."""
    of_cluster = int(launch.cluster_blocks * launch.warps) if launch.cluster_blocks > 1 else 0       # warps
    if not used(program) and not of_cluster:
        return
    found = abi.Async(threads=launch.warps * abi.LANES, columns=launch.warps * abi.LANES + abi.MOST_OBJECTS + of_cluster)
    found.far = found.columns - of_cluster if of_cluster else 0
    data = aligned(max(int(launch.shared_bytes), 16))
    found.data, found.data_bytes = pin(data), data.nbytes
    if any(tensor.function == "copy_box" for tensor in program.tensors.values()):
        found.boxes = pin(aligned(abi.MOST_FLIGHTS * ctypes.sizeof(abi.Box)))
    worker.late = pin(found)
    if racecheck:
        rows = 2 * (found.threads + NAMED_BARRIERS) + 4 + 4 * abi.MOST_OBJECTS
        worker.clocks = pin(np.zeros(rows * found.columns, np.uint32))
        cells = (launch.shared_bytes >> launch.granule_shift) + 1
        worker.readers = pin(aligned(int(cells * launch.warps) * ctypes.sizeof(abi.Readers)))
        worker.far = pin(np.zeros(int(cells) * ctypes.sizeof(abi.FarCell), np.uint8)) if of_cluster else 0


def explain(run: Running, worker: Any, ins: Instruction, facts: Facts) -> SimtError:
    """Return the exception of an operation that an mbarrier or a bulk copy does not allow, or of a wait without end."""
    found = misused(worker)
    why, value = ObjectMisuse(worker.fault_address >> 32), worker.fault_address & 0xFFFFFFFF
    at = found.at if found is not None else value
    facts |= {"operation": ins.name.replace("__", "::"), "value": value}
    name = named(run, at)
    if why == ObjectMisuse.DEADLOCK:
        return BarrierDeadlock(f"{place(facts)} waits for phase {value} of {name}, and nobody can complete it: {missing(found)}."
                               f"{others(run, worker)}", **facts)
    if found is not None:
        facts["other_line"] = run.program.instructions[found.made_in].line
    return MbarrierMisuse(f"{place(facts)}: {facts['operation']} {words(why, value, name, found, facts)}", **facts)


def misused(worker: Any) -> Any:
    """Return the abi.Object that a fault is about, which another block of the cluster may have; None where it is about none."""
    state = abi.Async.from_address(worker.late)
    if not state.misused:
        return None
    home = abi.Worker.from_address(abi.Cluster.from_address(worker.cluster).worker[state.misused_in - 1]) if state.misused_in else worker
    return abi.Async.from_address(home.late).object[state.misused - 1]


def words(why: ObjectMisuse, value: int, name: str, found: Any, facts: Facts) -> str:
    """Return what is wrong, as the end of a sentence and what to do."""
    most = abi.MOST_COUNT
    few = "mbarrier.init says how many arrive in each phase."
    if found is not None and found.flying:
        few = "Its copies are still under way: nobody has waited for that phase."
    return {
        ObjectMisuse.NO_OBJECT: f"finds no mbarrier at {name}. mbarrier.init makes one: one thread executes it first, and __syncthreads() "
                                "stands behind it.",
        ObjectMisuse.LIVE_OBJECT: f"initialises {name} again, which line {facts.get('other_line')} initialised. mbarrier.inval ends it "
                                  "first.",
        ObjectMisuse.CHANGED_OBJECT: f"finds {name} changed by an ordinary store. Its 64 bits belong to the mbarrier instructions; "
                                     "racecheck names the store.",
        ObjectMisuse.BAD_COUNT: f"counts {value} arrivals; an mbarrier counts 1 to {most}.",
        ObjectMisuse.BAD_BYTES: f"leaves more than {most} bytes to be counted by {name}. Expect and copy fewer bytes in a phase.",
        ObjectMisuse.EXTRA_ARRIVAL: f"arrives {value} times at {name}, whose phase waits for {found.pending if found else 0} more of "
                                    f"{found.expected if found else 0} arrivals. {few}",
        ObjectMisuse.COMPLETES: f"would complete the phase of {name}, which .noComplete promises not to do.",
        ObjectMisuse.WRONG_TOKEN: "takes a token that no arrival at this mbarrier returned.",
        ObjectMisuse.OLD_TOKEN: f"takes a token of {value} phases ago: {name} knows the present phase and the one before.",
        ObjectMisuse.NO_PARITY: f"asks for the parity {value}; a parity is 0 or 1.",
        ObjectMisuse.BUSY_OBJECT: f"ends {name} while copies are under way that tell it. Wait for its phase first.",
        ObjectMisuse.MANY_OBJECTS: f"makes one mbarrier more than the {value} that the simulator follows in a block.",
        ObjectMisuse.NOT_IN_SHARED: "needs an address in the block's shared memory.",
        ObjectMisuse.OTHER_BLOCK: "tells an mbarrier of one block of the cluster about bytes in another: map both to the same rank.",
        ObjectMisuse.BULK_BYTES: f"copies {value} bytes; a bulk copy takes a multiple of 16, and at least 16.",
    }[why]


def named(run: Running, at: int) -> str:
    """Return how a message calls the mbarrier at a byte of shared memory."""
    name, offset = variable_at(run, at)
    return f"the mbarrier at byte {offset} of {name}" if name else f"the mbarrier at shared byte {offset}"


def missing(found: Any) -> str:
    """Say what keeps a phase from being complete."""
    parts = []
    if found.pending:
        of = f" of {found.expected}" if found.pending <= found.expected else ""
        parts.append(f"{found.pending}{of} arrivals are missing")
    if found.bytes > 0:
        parts.append(f"{found.bytes} bytes are expected that no copy brings")
    if found.bytes < 0:
        parts.append(f"{-found.bytes} bytes more have come than were expected")
    return " and ".join(parts)


def others(run: Running, worker: Any) -> str:
    """Say where the other warps of the block wait, which have not ended."""
    if worker.cluster:
        return clusters.waiting(run, worker)
    lines, state = [], abi.Async.from_address(worker.late)
    for index in range(-(-run.threads // abi.LANES)):
        warp = abi.Warp.from_address(run.warp_address(worker, index))
        if index == worker.fault_warp or warp.state == abi.ENUMS["State"]["DONE"]:
            continue
        number, lane, why = warp.barrier, 0, ""
        if warp.stalled:
            number, lane, why = warp.wait_number, warp.wait_lane, f" ({missing(state.object[warp.wait_object])})"
        lines.append(f"thread {run.thread(index * abi.LANES + lane)} in line {run.program.instructions[number].line}{why}")
    return f" The other warps wait too: {', '.join(lines)}." if lines else ""
