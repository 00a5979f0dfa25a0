"""What a launch returns: counters, counters per line, hazards, trace, and where everything lay in memory."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class DeviceArray:
    """Device addresses [address, address + nbytes) of an array argument; `name` is the kernel's parameter."""

    name: str
    address: int
    nbytes: int
    itemsize: int


@dataclass(frozen=True)
class SharedVariable:
    """A `__shared__` variable: byte offset and size in the block's shared memory."""

    name: str
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Hazard:
    """Two accesses to shared memory that nothing puts in order (or a read before any write).

    One entry per kind and pair of lines: the first example, and in `count` how many there were. `address` is a byte
    offset in the block's shared memory; lines are source lines; threads are (x, y, z).
    """

    kind: str
    address: int
    first_line: int
    second_line: int
    first_thread: tuple
    second_thread: tuple
    block: tuple
    count: int

    def __str__(self):
        times = f"{self.count} time{'s' if self.count != 1 else ''}"
        if self.kind == "uninitialised":
            return (f"uninitialised shared memory read at line {self.first_line}, first by thread {self.first_thread} of "
                    f"block {self.block} at byte {self.address} ({times})")
        verbs = {"RAW": ("writes", "reads"), "WAR": ("reads", "writes"), "WAW": ("writes", "writes")}[self.kind]
        return (f"{self.kind} hazard: thread {self.first_thread} {verbs[0]} at line {self.first_line}, thread "
                f"{self.second_thread} {verbs[1]} at line {self.second_line}, with no barrier between them; shared byte "
                f"{self.address}, block {self.block} ({times})")


@dataclass(frozen=True)
class TraceRecord:
    """One memory access or barrier of a traced warp.

    `mask`: bit l set when lane l takes part. `addresses`: (32,) int64, byte addresses, -1 for lanes that do not; for
    shared memory the offset in the block's shared memory. `width`: bytes per lane. `step`: warp instructions before it.
    """

    step: int
    block: tuple
    warp: int
    line: int
    operation: str
    mask: int
    addresses: np.ndarray
    width: int
    space: str | None


@dataclass(frozen=True)
class Report:
    """The result of `simt.launch`; counters carry Nsight Compute's names."""

    kernel: str
    counters: dict
    lines: dict
    level: dict
    hazards: tuple = ()
    trace: tuple = ()
    arrays: tuple = ()
    shared: tuple = ()
    steps: int = 0
    seconds_compile: float = 0.0
    seconds_run: float = 0.0
    ptx: str = field(default="", repr=False)
