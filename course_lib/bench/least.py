"""How long a product takes at least, before anything is run: what a search may prune by.

For the kernels that share out steps of tiles every count follows from the text of the kernel and `model.stream_k`; for the other kernels
only the multiply-adds and the bytes that nobody can avoid are counted. After a run on the simulator its counters say more.
"""

import math
from dataclasses import replace

from course_lib.arch import SECTOR_BYTES, WARP, Device
from course_lib.bench.tasks import SIZES, Task
from course_lib.data import Record
from course_lib.kernels import get
from course_lib.model.bound import Work, busiest, lower_bound
from course_lib.model.stream_k import Sharing, sharing

FASTEST_DOUBLE = "f64 m16n8k16"        # the fastest matrix instruction for float64 that was measured: no kernel can do more
LATENCY_CYCLES = 240.0                 # of a load that the L2 answers, as for `lower_bound`
SCHEDULERS = 4
NOTHING = Work(1, fmas=0, instructions=0, wavefronts=0, sectors=0, l1_wavefronts=0, block_sectors=0, launch_sectors=0, rounds=0, resident=1)
SHARING = ("sgemm_stream_k", "dgemm_stream_k")


def least_seconds(task: Task, on: Device) -> float:
    """Return seconds that a product on a GPU takes at least, by the model; never above what it was measured to take.

    Parameters
    ----------
    task
        Of a product with beta 0. Nothing is run or compiled for it.
    on
        The device, of compute capability 7.0 and up.

    Source: `model.bound`; held to every recorded time of these kernels by its test.

    >>> from course_lib.arch import DEFAULT_DEVICE
    >>> from course_lib.bench import task
    >>> 22e-3 > least_seconds(task("sgemm_stream_k", 8192, {"blocks": 132}, backend="gpu"), DEFAULT_DEVICE) > 16e-3
    True
    """
    if task.kernel not in SHARING:
        fmas = 0.0 if get(task.kernel).inputs else task.M * task.N * task.K / WARP         # with `inputs` tensor cores make them
        return _least(task, on, replace(NOTHING, blocks=on.sms, fmas=fmas, launch_sectors=_beyond(task, on),
                                        double=task.dtype == "float64"))
    p = task.parameters
    shared_out = sharing(task.M, task.N, task.K, (p["BM"], p["BN"], p["BK"]), p["blocks"])
    return max(_least(task, on, _work(task, shared_out, on)), _of_a_block(task, shared_out, on))


def _least(task: Task, on: Device, work: Work) -> float:
    terms = lower_bound(work, on, LATENCY_CYCLES).terms
    return max(seconds for name, seconds in terms.items() if name != "operands")       # nobody counted its operands


def _beyond(task: Task, on: Device) -> float:
    """Return the sectors that the L2 cannot hold from one launch to the next, which come from the device's memory or go there."""
    return max(0, task.bytes - (on.l2_bytes if task.l2 == "warm" else 0)) / SECTOR_BYTES


def _work(task: Task, shared_out: Sharing, on: Device) -> Work:
    """Return what the blocks do at least, all of them charged with the share of the block that has least."""
    p, blocks = task.parameters, shared_out.blocks
    steps = max(blocks * shared_out.least, shared_out.tiles * shared_out.steps * _evenly(blocks, on))
    step = p["BM"] * p["BN"] * p["BK"]
    copies = p["BK"] * (p["BM"] + p["BN"]) / p["WIDE"] / WARP         # warp instructions, when all are as wide as the widest
    resident = max(1, on.limits.shared // get(task.kernel).dynamic_bytes(**p))
    work = replace(NOTHING, blocks=blocks, block_sectors=_fetched(task) * _evenly(blocks, on), launch_sectors=_beyond(task, on),
                   rounds=shared_out.least, resident=resident, in_flight=p["STAGES"] - 1)
    if task.dtype == "float64":
        return replace(work, instructions=steps * copies, tensor=steps * step, mma=FASTEST_DOUBLE, double=True)
    loads = (p["TM"] + p["TN"]) / 4 / (p["TM"] * p["TN"])           # 128-bit loads of shared memory for each multiply-add
    return replace(work, fmas=steps * step / WARP, instructions=steps * (step / WARP * (1 + loads) + copies))


def _evenly(blocks: int, on: Device) -> float:
    """Return the share of the work on the busiest multiprocessor if it were spread evenly, over that of one with the most blocks."""
    return min(1.0, blocks / (on.sms * busiest(blocks, on.sms)))


def _fetched(task: Task) -> float:
    """Return the sectors that asynchronous copies of 16 bytes bring; they pass by the L1, so that each block fetches its own."""
    p, per_sector = task.parameters, SECTOR_BYTES / SIZES[task.dtype]
    both = task.dtype == "float64"         # the float32 kernel copies element by element where neighbours in memory differ in k
    wide = p["WIDE"] > 1
    a = task.M * task.K * math.ceil(task.N / p["BN"]) if wide and (both or p["TRANSA"]) else 0
    b = task.K * task.N * math.ceil(task.M / p["BM"]) if wide and (both or not p["TRANSB"]) else 0
    return (a + b + task.M * task.N) / per_sector


def _of_a_block(task: Task, shared_out: Sharing, on: Device) -> float:
    """Return the seconds of the block that has most steps, alone on a multiprocessor: a warp has one scheduler only."""
    p = task.parameters
    if task.dtype == "float64":
        return 0.0
    warps = (p["BM"] // p["WM"]) * (p["BN"] // p["WN"])
    cycles = shared_out.most * p["BK"] * p["TM"] * p["TN"] * math.ceil(warps / SCHEDULERS)
    return cycles / (on.clock_mhz * 1e6)


def modelled_seconds(record: Record, on: Device) -> float | None:
    """Return the modelled least seconds of a product that ran on the simulator, from its counters too; None without counters.

    >>> from course_lib.arch import DEFAULT_DEVICE
    >>> modelled_seconds(Record("sgemm_naive", 64, {"bx": 16, "by": 16}), DEFAULT_DEVICE) is None
    True
    """
    if not record.counters:
        return None
    c, kernel = record.counters, get(record.kernel)
    op = "dfma" if record.dtype == "float64" else "ffma"
    blocks = math.prod(kernel.grid(record.M, record.N, **record.parameters))
    task = Task(record.kernel, record.M, record.N, record.K, record.parameters, record.kind, record.dtype)
    work = replace(
        NOTHING, blocks=blocks, fmas=c[f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"] / WARP,
        instructions=c["smsp__inst_executed.sum"],
        wavefronts=sum(c[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] for op in ("ld", "st")),
        sectors=sum(c[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] for op in ("ld", "st")),
        launch_sectors=_beyond(task, on), double=record.dtype == "float64")
    return max(least_seconds(task, on), _least(task, on, work))
