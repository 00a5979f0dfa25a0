"""A lower bound for a kernel's time, from what it executes and what the device can do at most.

Each term is the time that one part of the device needs for its share of the work when it never waits; the kernel cannot be
faster than the slowest part. Every term is a model. Parts of a multiprocessor (SM) are charged with the work of the SM that
gets most of it: blocks are not cut in two.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from course_lib.arch import BANKS, SECTOR_BYTES, TENSOR, UNITS, WARP, Device
from course_lib.model.busiest_work import Units, busiest_work
from course_lib.model.inputs import InputError
from course_lib.model.latency import staged_cycles
from course_lib.model.mma_rate import MEASURED_ON, mma_seconds
from course_lib.model.operands import MEASURED_CC
from course_lib.model.waves import Waves, waves

SCHEDULERS = 4              # of an SM, a warp instruction a cycle each; CUDA C++ Programming Guide, "Compute Capability 7.x" to 9.x
SHARED_WAVEFRONTS = 1       # a cycle and SM: 32 banks of 4 bytes; CUDA C++ Programming Guide, "Shared Memory"
L1_SECTORS = 4              # a cycle and SM: 128 bytes, the width of the same data path; Best Practices Guide, "Shared Memory"
L1_WAVEFRONTS = 1           # of global requests, a cycle and SM; no document says it, recordings at 22 sizes do: docs/time-bound.md
PORT_SECTORS = 2            # a cycle from the L2 into an SM: 64 bytes; A100 white paper, "L2 cache and DRAM bandwidth"
L2_SECTORS = {(7, 0): 64, (8, 0): 160, (9, 0): 160}    # a cycle, whole L2; A100 white paper: 5120 bytes, V100 2048; H100 taken as A100
MEANING = {
    "fma": "multiply-adds on the arithmetic units",
    "operands": "reads of float32 multiply-adds from two register banks, for compute capability 9.0: `model.operands`",
    "tensor": "multiply-adds on tensor cores, by kernels that use them",
    "mma.sync": "the same, at the rate that an H200 was measured to reach by such instructions: `model.mma_rate`",
    "issue": "warp instructions, one a cycle and scheduler",
    "shared": "shared wavefronts, those of asynchronous copies too, one a cycle",
    "L1": "all global sectors through the L1's data path, shared wavefronts beside them",
    "L1 banks": "wavefronts of global requests in the L1, one a cycle: see `l1_wavefronts`",
    "L2": "sectors that are distinct within a block, once for each block", "DRAM": "sectors that are distinct in the launch, once",
    "latency": "rounds of loads that wait for one another, or as many at a time as there are tiles under way, by Little's law",
}


@dataclass(frozen=True)
class Work:
    """What a launch does; counts are of the whole launch.

    Attributes
    ----------
    blocks
        Thread blocks.
    fmas
        Multiply-adds of warps (32 lanes each).
    instructions
        Warp instructions of any kind, as the machine code has them.
    wavefronts
        Of shared loads and stores.
    sectors
        Of all global requests: pieces of 32 bytes, distinct within their request.
    l1_wavefronts
        Of all global requests, as `l1_wavefronts` counts them.
    block_sectors, launch_sectors
        Sectors that are distinct within a block, summed over the blocks; sectors that are distinct in the launch.
    rounds
        Times that a warp waits for global loads, one after another; the mean of all blocks.
    resident
        Blocks that an SM holds at a time (occupancy).
    double
        Whether the multiply-adds are of float64.
    tensor
        Multiply-adds on tensor cores, of single elements.
    number
        What those multiply: "tf32" or "bf16"; "" without any.
    operand_cycles
        That a scheduler takes at least per float32 multiply-add to read its operands: `OperandReads.per_multiply_add`. 1 where nobody
        counted.
    mma
        The kind of the matrix instructions if they are `mma.sync`, a key of `mma_rate.MMA_SYNC`; else "".
    in_flight
        Rounds of loads that are under way together: with S buffers for tiles, of which one is being multiplied, S - 1.
    units
        (blocks, work of each of them) in any unit, where blocks do not all do as much; () where they do. Counts and rounds go with it.
    copy_wavefronts
        Of asynchronous copies (`cp.async`), as they write to shared memory.
    """

    blocks: int
    fmas: float
    instructions: float
    wavefronts: float
    sectors: float
    l1_wavefronts: float
    block_sectors: float
    launch_sectors: float
    rounds: float
    resident: int
    double: bool = False
    tensor: float = 0.0
    number: str = ""
    operand_cycles: float = 1.0
    mma: str = ""
    in_flight: float = 1.0
    units: Units = ()
    copy_wavefronts: float = 0.0

    def share(self, places: int) -> float:
        """Return the share of all work that the busiest of so many multiprocessors, or places for a block, has at least."""
        units = self.units or ((self.blocks, 1.0),)
        total = sum(count * work for count, work in units)
        return busiest_work(units, places) / total if total else 0.0


@dataclass(frozen=True)
class Bound:
    """A modelled lower bound; `terms`: name (see `MEANING`) to seconds; `waves`: how blocks fill the device, which all terms include."""

    terms: dict[str, float] = field(hash=False)
    waves: Waves | None = None

    @property
    def seconds(self) -> float:
        """Return the longest term."""
        return max(self.terms.values())

    @property
    def binds(self) -> str:
        """Return the name of the longest term."""
        return max(self.terms, key=lambda name: self.terms[name])

    @property
    def slack(self) -> float:
        """Return the second longest term over the longest: near 1, two parts bind."""
        second, first = sorted(self.terms.values())[-2:]
        return second / first


def busiest(blocks: int, sms: int) -> int:
    """Return the blocks of the SM that gets most of them.

    >>> busiest(64, 132), busiest(1024, 132)
    (1, 8)
    """
    return math.ceil(blocks / sms)


def memory_roofs(device: Device) -> dict[str, float]:
    """Return the most that each memory delivers to all multiprocessors, in 10^9 bytes a second.

    Returns
    -------
    "L1 caches", "L2" (where a document gives its width) and "memory".

    Sources: at the constants of this module; the device's data sheet.

    >>> from course_lib.arch import device
    >>> {name: round(rate) for name, rate in memory_roofs(device("H200")).items()}
    {'L1 caches': 33454, 'L2': 10138, 'memory': 4800}
    """
    sector = SECTOR_BYTES * device.clock_mhz / 1e3          # one a cycle
    second = {"L2": L2_SECTORS[device.cc] * sector} if device.cc in L2_SECTORS else {}
    return {"L1 caches": L1_SECTORS * device.sms * sector, **second, "memory": device.bandwidth_gb_s}


def lower_bound(work: Work, device: Device, latency_cycles: float = 240.0, clock_mhz: float | None = None,
                bandwidth_gb_s: float | None = None) -> Bound:
    """Return the Bound of a launch.

    Parameters
    ----------
    device
        Compute capability 7.0 and up.
    latency_cycles
        Of a load that the L2 answers; 240 is about the least that `data/micro.json` records for an H200.
    clock_mhz, bandwidth_gb_s
        Measured ones in place of the table's.

    Raises
    ------
    InputError, a ValueError
        On an older device, a count that is negative or no number, or no block at all.

    Sources: at the constants of this module; Little's law as in `model.latency`.

    A block with 128 × 128 outputs, K = 8: 4096 multiply-adds of warps on an SM that does four a cycle.

    >>> from course_lib.arch import device
    >>> one = Work(1, 4096, 5000, 512, 256, 64, 256, 256, 1, 2)
    >>> found = lower_bound(one, device("H200"), clock_mhz=1000)
    >>> {name: round(seconds * 1e9) for name, seconds in found.terms.items()}
    {'fma': 1024, 'operands': 1024, 'issue': 1250, 'shared': 512, 'L1': 576, 'L1 banks': 64, 'L2': 128, 'DRAM': 2, 'latency': 240}
    >>> found.binds
    'issue'
    """
    _check(work, device, latency_cycles)
    hertz = (clock_mhz or device.clock_mhz) * 1e6
    share = work.share(device.sms)                                 # of all work, on the busiest SM
    fma_rate = UNITS[device.cc][work.double] / WARP
    rounds = work.rounds * work.blocks * work.share(device.sms * work.resident)      # of the blocks that have one place in turn
    cycles = {
        "fma": work.fmas * share / fma_rate,
        **({"operands": work.fmas * share / fma_rate * work.operand_cycles} if device.cc == MEASURED_CC and not work.double else {}),
        **({"tensor": work.tensor * share / TENSOR[device.cc][("tf32", "bf16").index(work.number)]} if work.number else {}),
        "issue": work.instructions * share / SCHEDULERS,
        "shared": (work.wavefronts + work.copy_wavefronts) * share / SHARED_WAVEFRONTS,
        "L1": share * (work.sectors / L1_SECTORS + work.wavefronts / SHARED_WAVEFRONTS),
        "L1 banks": work.l1_wavefronts * share / L1_WAVEFRONTS,
        "L2": max(work.block_sectors * share / PORT_SECTORS, work.block_sectors / L2_SECTORS.get(device.cc, math.inf)),
        "latency": staged_cycles(rounds, work.in_flight, latency_cycles),
    }
    seconds = {name: count / hertz for name, count in cycles.items()}
    seconds["DRAM"] = work.launch_sectors * SECTOR_BYTES / ((bandwidth_gb_s or device.bandwidth_gb_s) * 1e9)
    if work.mma and device.name == MEASURED_ON:
        seconds["mma.sync"] = mma_seconds(work.tensor * share * device.sms, work.mma)
    return Bound({name: seconds[name] for name in MEANING if name in seconds}, waves(work.blocks, device.sms, work.resident))


def _check(work, device, latency_cycles):
    if device.cc < (7, 0):
        raise InputError(f"{device.name} has compute capability {device.cc[0]}.{device.cc[1]}, but the model knows 7.0 and up: "
                         "older schedulers issue differently", device=device.name)
    if work.number and device.cc not in TENSOR:
        raise InputError(f"the tensor cores of {device.name} take no {work.number}: compute capability 8.0 and up do", device=device.name)
    if work.blocks < 1 or work.resident < 1:
        raise InputError(f"there are {work.blocks} blocks and {work.resident} fit an SM, but a launch has at least one of each")
    for name in ("fmas", "instructions", "wavefronts", "sectors", "l1_wavefronts", "block_sectors", "launch_sectors", "rounds", "tensor",
                 "copy_wavefronts"):
        value = getattr(work, name)
        if not (value >= 0 and math.isfinite(value)):
            raise InputError(f"{name} is {value!r}, but it is a count from 0 up", name=name, value=value)
    if work.units and sum(count for count, _ in work.units) != work.blocks:
        raise InputError(f"units are {work.units!r}: they are the work of all {work.blocks} blocks", name="units")
    for name in ("operand_cycles", "in_flight"):
        if not (getattr(work, name) >= 1 and math.isfinite(getattr(work, name))):
            raise InputError(f"{name} is {getattr(work, name)!r}, but it is a number from 1 up", name=name)
    if work.mma:
        mma_seconds(work.tensor, work.mma)
    if not latency_cycles >= 0:
        raise InputError(f"latency_cycles is {latency_cycles!r}, but it is a number of cycles from 0 up")


def l1_wavefronts(addresses: ArrayLike, width: int = 4) -> int:
    """Return the wavefronts of one global request, if the L1 has 32 banks of 4 bytes as shared memory has.

    A line of 128 bytes lies across all banks. Words of one line, or in different banks, come together; words of different lines
    in one bank come one after another. A hypothesis: it is what the times of the naive kernel at 22 sizes leave of four
    (docs/time-bound.md). No document says it.

    Parameters
    ----------
    addresses
        Where the active lanes begin, in bytes.
    width
        Bytes per lane.

    >>> row, column = 4 * np.arange(32), 4096 * np.arange(32)
    >>> l1_wavefronts(row), l1_wavefronts(column), l1_wavefronts(column + row), l1_wavefronts(row + 64)
    (1, 32, 1, 1)
    """
    words = np.unique(np.add.outer(np.asarray(addresses, np.int64), np.arange(0, width, 4)) // 4)
    return int(np.bincount(words % BANKS, minlength=BANKS).max()) if words.size else 0


def product_sectors(rows: float, cols: float, M: int, N: int, K: int, element_bytes: int = 4,
                    factor_bytes: int = 0) -> tuple[float, float]:
    """Return (block_sectors, launch_sectors) of C = A B with tiles of rows × cols of C, beta 0: analytic.

    A block touches its rows of A, its columns of B and its tile of C once, whatever it does in between; a launch each matrix.
    Edges of tiles are taken to lie on sectors, as they do for tiles of 8 floats or 4 doubles and matrices of that many.
    `factor_bytes`: of an element of A and B, where they have another type than C.

    Source: counting; held to traces of the simulator by its test.

    >>> product_sectors(16, 16, 64, 64, 64)
    (4608.0, 1536.0)
    >>> product_sectors(16, 16, 64, 64, 64, factor_bytes=2)
    (2560.0, 1024.0)
    """
    per_sector, factors = SECTOR_BYTES / element_bytes, SECTOR_BYTES / (factor_bytes or element_bytes)
    blocks = math.ceil(M / rows) * math.ceil(N / cols)
    inside = (rows * K + K * max(cols, factors)) / factors + rows * max(cols, per_sector) / per_sector
    return blocks * inside, (M * K + K * N) / factors + M * N / per_sector
