"""The work of a kernel that copies ahead and shares out the steps of all tiles: what one step does, times the steps of each block."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib import toolchain
from course_lib.kernels import Kernel
from course_lib.model.bound import Work
from course_lib.model.stream_k import sharing
from course_lib.run.in_flight import copied_bytes, most_in_flight
from course_lib.run.operands import kernel_reads
from course_lib.run.product import run
from course_lib.run.result import RunResult, counter_name
from course_lib.run.traces import every_warp

DEPTH, LINE = 64, 32           # columns of A in the smaller launch at least; elements after which addresses meet sectors and banks alike
COPIES = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
NAMES = {"wavefronts": counter_name("wavefronts", "load"), "copy_wavefronts": COPIES, "sectors": counter_name("sectors", "load"),
         "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "dmma": "smsp__inst_executed_pipe_tensor_op_dmma.sum"}

_KNOWN: dict[tuple[Any, ...], "StepCounts"] = {}


@dataclass(frozen=True)
class StepCounts:
    """What a block does in one step of BK along K in a tile without an edge.

    Attributes
    ----------
    fmas, tensor
        Multiply-adds of warps on the arithmetic units; multiply-adds of single elements on tensor cores.
    instructions
        Of warps: those of the shortest path through the step in machine code.
    wavefronts, copy_wavefronts
        Of shared loads, and of asynchronous copies.
    sectors
        Of its requests to global memory.
    copied
        Bytes of its asynchronous copies.
    in_flight
        Steps whose copies are under way together at most: bytes that were asked for and not waited for, over `copied`.
    operand_cycles, mma
        As in `Work`.
    resident
        Blocks that a multiprocessor of the device holds at a time.
    """

    fmas: float
    tensor: float
    instructions: float
    wavefronts: float
    copy_wavefronts: float
    sectors: float
    copied: float
    in_flight: float
    operand_cycles: float
    mma: str
    resident: int


def shares_out_steps(kernel: Kernel) -> bool:
    """Tell whether a kernel copies ahead and shares out the steps of all tiles among a number of blocks that is one of its parameters."""
    return kernel.kind == "product" and {"BM", "BN", "BK", "STAGES", "blocks"} <= {p.name for p in kernel.parameters}


def step_counts(kernel: Kernel, parameters: dict[str, int], lda: int = 0, ldb: int = 0, device: str | None = None) -> StepCounts:
    """Count what a block does in a step, in two simulated launches of one tile: counts are straight lines in K.

    Parameters
    ----------
    parameters
        All of the kernel's.
    lda, ldb
        Elements between rows of A and of B as they are stored; only what they leave over from a multiple of 32 decides on sectors.
    device
        Of the residency; default the course's.

    Raises
    ------
    CourseError
        For a kernel without asynchronous copies.
    """
    p = parameters | {"blocks": 1}
    key = kernel.name, kernel.source, tuple(sorted(p.items())), lda % LINE, ldb % LINE, device
    if key not in _KNOWN:
        _KNOWN[key] = _counted(kernel, p, lda % LINE, ldb % LINE, device)
    return _KNOWN[key]


def _counted(kernel: Kernel, p: dict[str, int], lda: int, ldb: int, device: str | None) -> StepCounts:
    unit = math.lcm(p["BK"], LINE)
    few = math.ceil(max(DEPTH, p["STAGES"] * p["BK"]) / unit) * unit
    one, two = (_tile(kernel, p, K, lda, ldb, device) for K in (few, 2 * few))
    steps = few // p["BK"]
    each = {what: (_count(two, name) - _count(one, name)) / steps for what, name in NAMES.items()}
    copied = copied_bytes(two) / (2 * steps)
    tensor, instructions, mma = _instructions(kernel, p, each)
    cycles = kernel_reads(kernel, **p).step.per_multiply_add if each["ffma"] else 1.0
    return StepCounts(each["ffma"] / 32, tensor, instructions, each["wavefronts"], each["copy_wavefronts"], each["sectors"], copied,
                      max(1.0, most_in_flight(two) / copied), cycles, mma, two.occupancy.blocks)


def _count(result: RunResult, name: str) -> int:
    return (result.counters or {}).get(name, 0)


def _instructions(kernel, p, each):
    """Return (multiply-adds on tensor cores, warp instructions, kind of the matrix instructions) of a step."""
    if not each["dmma"]:
        return 0.0, each["ffma"] / 32 * toolchain.shortest_path(kernel, **p).per_multiply_add, ""
    turn = toolchain.tensor_step(kernel, **p)
    shape, = turn.shapes
    m, n, k = shape.split("x")
    turns = each["dmma"] / turn.opcodes["DMMA"]
    return turns * turn.multiply_adds, turns * turn.instructions, f"f64 m{m}n{n}k{k}"


def _tile(kernel: Kernel, p: dict[str, int], K: int, lda: int, ldb: int, device: str | None) -> RunResult:
    """Simulate a product of one tile by one block, with rows as far apart as is asked; trace every warp."""
    def matrix(rows, cols, over):
        return np.ones((rows, cols + over), kernel.dtype)[:, :cols]
    A = matrix(*((K, p["BM"]) if p.get("TRANSA") else (p["BM"], K)), lda)
    B = matrix(*((p["BN"], K) if p.get("TRANSB") else (K, p["BN"])), ldb)
    parameters: dict[str, Any] = p
    return run(kernel, A, B, backend="sim", device=device, trace=every_warp((1, 1), kernel.block(**p)), **parameters)


def shared_work(kernel: Kernel, M: int, N: int, K: int, parameters: dict[str, int], *, lda: int, ldb: int, beta: bool = False,
                device: str | None = None) -> Work:
    """Return the Work of a product whose steps are shared out: its steps alone, without what comes once per tile.

    A step at an edge executes what a step inside does, but asks for fewer sectors: they are counted for steps in whole tiles alone. What is
    distinct in a block is each tile's rows of A and columns of B, and C, and sums that one block leaves to another, which are written and
    read. No wavefronts in the L1 are counted: nobody measured how the L1 serves copies.

    Parameters
    ----------
    parameters
        All of the kernel's.
    lda, ldb
        As for `step_counts`.
    beta
        Whether C is read.

    Raises
    ------
    CourseError
        As `step_counts`.
    """
    p, item = parameters, np.dtype(kernel.dtype).itemsize
    step, shared = step_counts(kernel, p, lda, ldb, device), sharing(M, N, K, (p["BM"], p["BN"], p["BK"]), p["blocks"])
    steps, inside = shared.tiles * shared.steps, (M // p["BM"]) * (N // p["BN"]) * (K // p["BK"])
    down, across, per_sector = math.ceil(M / p["BM"]), math.ceil(N / p["BN"]), 32 / item
    results = M * N * (1 + beta)
    near = M * K * across + K * N * down + results + 2 * shared.partial * p["BM"] * p["BN"]
    return Work(
        p["blocks"], steps * step.fmas, steps * step.instructions, steps * step.wavefronts, inside * step.sectors, 0.0, near / per_sector,
        (M * K + K * N + results) / per_sector, steps / p["blocks"], step.resident, kernel.dtype == "float64", steps * step.tensor,
        operand_cycles=step.operand_cycles, mma=step.mma, in_flight=step.in_flight, units=shared.groups,
        copy_wavefronts=steps * step.copy_wavefronts)
