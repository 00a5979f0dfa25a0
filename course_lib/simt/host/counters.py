"""From what the runtime counted per block and per access to Nsight Compute's counters, in total and per source line."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.host.memory import aligned
from course_lib.simt.host.running import Running
from course_lib.simt.isa.memory import is_memory
from course_lib.simt.isa.tensor import ROWS, Tensor
from course_lib.simt.passes.alike import is_guarded
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi

Add = Callable[[int, str, int], None]     # source line, counter, amount

GLOBAL_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
GLOBAL_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
SHARED_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
SHARED_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
SHARED_EXECUTED = "smsp__sass_inst_executed_op_shared_{}.sum"
LDSM_EXECUTED = {"ld": "smsp__sass_inst_executed_op_ldsm.sum", "st": "smsp__sass_inst_executed_op_shared_stsm.sum"}
COPY_EXECUTED = "smsp__sass_inst_executed_op_ldgsts.sum"
COPY_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
COPY_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"
EXECUTED = "smsp__inst_executed.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
THREAD_OPS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
MATH = {("fma", "f32"): "ffma", ("mad", "f32"): "ffma", ("add", "f32"): "fadd", ("sub", "f32"): "fadd",
        ("mul", "f32"): "fmul", ("fma", "f64"): "dfma", ("mad", "f64"): "dfma", ("add", "f64"): "dadd",
        ("sub", "f64"): "dadd", ("mul", "f64"): "dmul"}
DIRECTIONS = ("ld", "st")
TENSOR = "smsp__inst_executed_pipe_tensor_op_{}.sum"
TENSOR_PIPES = ("hmma", "dmma", "imma", "gmma")
BULK_COPIES = "smsp__sass_inst_executed_op_tma_{}.sum"       # the names of NVIDIA's profiler for compute capability 9.0
BULK_BYTES = {"ld": "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
              **{d: f"l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_{d}.sum" for d in ("st", "red")}}
BULK_SECTORS = {d: name.replace("bytes", "sectors") for d, name in BULK_BYTES.items()}
SECTOR = 32
# Ours, as we know no name in Nsight Compute: its sm__ops_path_tensor_… are told to read 0 in kernels with wgmma, and its lts__t_sectors_…
# are fewer than these where the copies of several multiprocessors meet on their way to the L2.
BULK_ONCE = {d: f"sectors_once_tma_{d}" for d in BULK_BYTES}
MULTIPLY_ADDS = "multiply_adds_wgmma"
FACTORS = {kind: f"{MULTIPLY_ADDS}_{kind}" for kind in ("f16", "bf16", "tf32", "f8", "i8")}
OPERAND_BYTES = ("operand_bytes_wgmma_a", "operand_bytes_wgmma_b")
MBARRIERS = "instructions_mbarrier"
NAMES = tuple(
    [form.format(d) for form in (GLOBAL_REQUESTS, GLOBAL_SECTORS, SHARED_WAVEFRONTS, SHARED_CONFLICTS, SHARED_EXECUTED)
     for d in DIRECTIONS] + [EXECUTED] + [THREAD_OPS.format(m) for m in ("ffma", "fadd", "fmul", "dfma", "dadd", "dmul")]
    + [DIVERGENT] + [TENSOR.format(p) for p in TENSOR_PIPES] + [*LDSM_EXECUTED.values(), COPY_EXECUTED, COPY_WAVEFRONTS, COPY_CONFLICTS,
                                                                 MULTIPLY_ADDS, *FACTORS.values(), *OPERAND_BYTES, MBARRIERS]
    + [BULK_COPIES.format(d) for d in BULK_BYTES] + [*BULK_BYTES.values(), *BULK_SECTORS.values(), *BULK_ONCE.values()]
)


def counted(run: Running) -> tuple[dict[str, NDArray[np.int64]], dict[str, int], dict[int, dict[str, int]]]:
    """Return what all workers of a launch counted: the sums of the runtime's arrays, and what `collect` makes of them."""
    sums: dict[str, NDArray[np.int64]] = {
        name: np.sum([w.arrays[name].astype(np.int64) for w in run.workers], axis=0) for name in run.workers[0].arrays}
    if run.uniform is not None:
        run.uniform.add_counts(sums)
    return sums, *collect(run.program, sums["executed"], sums["threads"], sums["dynamic"], sums["deopts"][:, 1])


def collect(program: Program, executed: NDArray[np.int64], threads: NDArray[np.int64], dynamic: NDArray[np.int64],
            divergent: NDArray[np.int64]) -> tuple[dict[str, int], dict[int, dict[str, int]]]:
    """Sum up a launch.

    Parameters
    ----------
    executed, threads
        How often a warp ran each block of code, and with how many lanes in all.
    dynamic
        (instructions, abi.COUNTS): per memory access or guarded instruction, in the order named in structures.cuh.
    divergent
        How often the branch at the end of a block of code sent lanes to both successors.

    Returns
    -------
    :
        Counters, and source line -> counters that are not zero.
    """
    total = dict.fromkeys(NAMES, 0)
    lines: dict[int, dict[str, int]] = {}

    def add(line, name, amount):
        amount = int(amount)
        if amount:
            total[name] += amount
            entry = lines.setdefault(line, {})
            entry[name] = entry.get(name, 0) + amount

    def add_computation(line, first, last, times, lanes):
        add(line, EXECUTED, times)
        math = MATH.get((first, last))
        if math:
            add(line, THREAD_OPS.format(math), lanes)

    for block, found in zip(program.blocks, program.alike, strict=True):
        if not executed[block.index]:
            continue
        for (line, first, last), count in found.plain.items():
            add_computation(line, first, last, count * executed[block.index], count * threads[block.index])
        for number, ins in found.single:
            guarded = is_guarded(ins)
            times = dynamic[number, 6] if guarded else executed[block.index]
            lanes = dynamic[number, 7] if guarded else threads[block.index]
            add_computation(ins.line, ins.opcode[0], ins.opcode[-1], times, lanes)
            if is_memory(ins) and program.accesses[number].kind < 2:
                add_access(add, program.accesses[number], ins, dynamic[number])
            elif number in program.tensors:
                add_tensor(add, program.tensors[number], ins, dynamic[number], times)
        if divergent[block.index]:
            add(block.instructions[-1].line, DIVERGENT, divergent[block.index])
    return total, dict(sorted(lines.items()))


def add_access(add: Add, access: Any, ins: Instruction, n: NDArray[np.int64], executed: str = SHARED_EXECUTED) -> None:
    """Count an abi.Access, whose row of `dynamic` is `n`."""
    direction = DIRECTIONS[access.kind]
    add(ins.line, GLOBAL_REQUESTS.format(direction), n[5])
    add(ins.line, GLOBAL_SECTORS.format(direction), n[2])
    add(ins.line, SHARED_WAVEFRONTS.format(direction), n[3])
    add(ins.line, SHARED_CONFLICTS.format(direction), n[3] - n[4])
    if n[3] or access.space == abi.SPACES["shared"]:
        add(ins.line, executed.format(direction), n[0])


def add_tensor(add: Add, tensor: Tensor, ins: Instruction, n: NDArray[np.int64], times: int) -> None:
    """Count a matrix instruction, an asynchronous copy or an operation of an mbarrier.

    `cp.async` (LDGSTS) is a global request with its sectors; what it does in shared memory has counters of its own. So has LDSM,
    as which ldmatrix and some wmma.load are executed, but its wavefronts are among those of loads. So an H200 counts them.
    So it counts bulk copies too, once for each lane that issues one (the assembler makes a loop over the lanes), and the sectors of 32
    bytes that each block receives, with those for elements outside of a tensor (`sectors_received` in runtime/boxes.cuh), or that go to
    global memory. `BULK_ONCE` is what the instruction needs of global memory, to however many blocks the copy goes. Copies between the
    shared memories of two blocks are not counted. Of a `wgmma.mma_async` the assembler makes one HGMMA, QGMMA or IGMMA.
    """
    if tensor.factors:
        add(ins.line, MULTIPLY_ADDS, times * tensor.multiply_adds)
        add(ins.line, FACTORS[tensor.factors], times * tensor.multiply_adds)
        for name, amount in zip(OPERAND_BYTES, tensor.operand_bytes, strict=True):
            add(ins.line, name, times * amount)
    if tensor.pipe:
        add(ins.line, TENSOR.format(tensor.pipe), times * tensor.machine_instructions)
    elif tensor.function == "copy_async":
        add(ins.line, GLOBAL_REQUESTS.format("ld"), n[5])
        add(ins.line, GLOBAL_SECTORS.format("ld"), n[2])
        add(ins.line, COPY_WAVEFRONTS, n[3])
        add(ins.line, COPY_CONFLICTS, n[3] - n[4])
        add(ins.line, COPY_EXECUTED, n[0])
    elif tensor.function == "copy_bulk" and tensor.record.far.space == abi.SPACES["shared"]:
        pass
    elif tensor.function in ("copy_bulk", "copy_box"):
        direction = "ld" if tensor.record.kind == abi.FlightKind.INTO_SHARED else "red" if tensor.record.change else "st"
        add(ins.line, BULK_COPIES.format(direction), n[0])
        add(ins.line, BULK_BYTES[direction], SECTOR * n[1])
        add(ins.line, BULK_SECTORS[direction], n[1])
        add(ins.line, BULK_ONCE[direction], n[2])
    elif tensor.function in ("use_object", "arrive_behind_copies"):
        add(ins.line, MBARRIERS, times)
    elif tensor.function == "access_tile" and tensor.access is not None:
        rows = tensor.record.mode == ROWS
        add_access(add, tensor.access, ins, n, LDSM_EXECUTED[DIRECTIONS[tensor.access.kind]] if rows else SHARED_EXECUTED)


def empty(program: Program) -> dict[str, NDArray[np.uint64]]:
    """Return zeroed arrays for one worker: executed, threads, dynamic, uniform_executed, deopts.

    They lie in memory of their own: two workers that write to neighbouring bytes would wait for each other's cache.
    """
    blocks, instructions = len(program.blocks), max(len(program.instructions), 1) + 1
    shapes: dict[str, tuple[int, ...]] = {
        "executed": (blocks,), "threads": (blocks,), "dynamic": (instructions, abi.COUNTS), "uniform_executed": (blocks,),
        "deopts": (blocks, 2)}
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    numbers = aligned(8 * sum(sizes) + 128, 128).view(np.uint64)
    numbers[:] = 0
    starts = np.cumsum([0, *sizes])
    return {name: numbers[start:start + size].reshape(shape)
            for (name, shape), start, size in zip(shapes.items(), starts, sizes)}
