"""Turn a fault record of the runtime into an exception whose message says what happened, where, and what to look at."""

import numpy as np

from course_lib.simt import layout
from course_lib.simt.errors import DivergentBarrier, Misaligned, OutOfBounds, StepBudgetExceeded


def explain(run, worker):
    """Return the exception for the fault in `worker`."""
    fault = layout.FAULTS[worker.fault]
    block = tuple(worker.fault_block)
    thread = run.thread(worker.fault_warp * layout.LANES + worker.fault_lane)
    facts = {"kernel": run.program.entry, "block": block, "thread": thread}
    if fault == "step budget":
        facts["line"] = loop_line(run.program, worker.fault_code_block)
        return StepBudgetExceeded(
            f"{place(facts)}: a warp has executed more than {run.max_steps:,} instructions and is still here. "
            "Most likely a loop never ends: check that its variable changes and its condition can become false.",
            max_steps=run.max_steps, **facts)
    if fault == "stopped":
        return KeyboardInterrupt()
    ins = run.program.instructions[worker.fault_access]
    facts["line"] = ins.line
    if fault == "divergent barrier":
        facts["other_line"] = run.program.instructions[worker.fault_address].line
        return DivergentBarrier(
            f"{place(facts)} waits at __syncthreads() while other threads of its warp wait at the one in line "
            f"{facts['other_line']}. Every thread of the block must reach the same barrier: move it out of the if or the loop.", **facts)
    if fault == "barrier mismatch":
        facts["other_line"] = run.program.instructions[worker.fault_address].line
        return DivergentBarrier(
            f"{place(facts)} waits at __syncthreads() while other warps of its block wait at the one in line "
            f"{facts['other_line']}. Every thread of the block must reach the same barrier: move it out of the if or the loop.", **facts)
    access = run.program.accesses[worker.fault_access]
    facts |= {"address": worker.fault_address, "width": access.width * access.count, "operation": ins.name}
    verb = "writes" if access.kind else "reads"
    if fault == "misaligned":
        return Misaligned(
            f"{place(facts)} {verb} {facts['width']} bytes at address {worker.fault_address:#x}, which is no multiple of "
            f"{facts['width']}. A vector access needs an aligned address: check the index and the leading dimension.", **facts)
    if fault == "read only":
        array = nearest(run, worker.fault_address)
        return OutOfBounds(f"{place(facts)} writes to {array.name}, which was given as a read-only array.", array=array.name, **facts)
    return out_of_bounds(run, access, ins, verb, facts)


def place(facts):
    """Say where: kernel, line, block, thread."""
    line = f", line {facts['line']}" if facts.get("line") else ""
    return f"{facts['kernel']}{line}: thread {facts['thread']} of block {facts['block']}"


def loop_line(program, block):
    return next((i.line for i in program.blocks[block].instructions if i.line), 0)


def space_name(access, addresses):
    """Return "global", "shared", "local" or "const" for a traced access; None for a barrier."""
    if access is None:
        return None
    names = {number: name for name, number in layout.SPACES.items()}
    name = names[access.space]
    if name == "generic":
        name = "global" if addresses.max() >= layout.CONSTANT_WINDOW else "shared"
    return name


def nearest(run, address):
    """Return the array argument whose addresses lie closest to `address`, or None."""
    if not run.arrays:
        return None
    return min(run.arrays, key=lambda a: max(a.address - address, address - (a.address + a.nbytes - 1), 0))


def out_of_bounds(run, access, ins, verb, facts):
    address, width = facts["address"], facts["width"]
    space = space_name(access, np.array([address]))
    if space == "shared":
        size = run.shared_bytes
        where = f"{address} of the block's {size} bytes of shared memory" if address < 1 << 31 else \
            f"{address - (1 << 32)}, in front of the block's shared memory"
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at byte {where}: that is outside. Check the index against the "
                           "array's size.", array="shared", bounds=(0, size), **facts)
    if space in ("local", "const"):
        size = run.program.local_bytes if space == "local" else run.program.constant_bytes
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at byte {address} of {size} bytes of {space} memory.",
                           array=space, bounds=(0, size), **facts)
    array = nearest(run, address)
    if array is None or abs(address - array.address) > 1 << 39:
        return OutOfBounds(f"{place(facts)} {verb} {width} bytes at address {address:#x}, where no array lies. Check that the "
                           "pointer was passed, and in the right order.", array=None, bounds=None, **facts)
    index = (address - array.address) // array.itemsize
    count = array.nbytes // array.itemsize
    return OutOfBounds(
        f"{place(facts)} {verb} {array.name}[{index}], but {array.name} has {count} elements (0 … {count - 1}). Guard the "
        "access with the matrix's size.", array=array.name, index=index, bounds=(0, count), **facts)
