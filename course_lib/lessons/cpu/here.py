"""The reader's loops beside ikj, timed on this computer: blocks of 16 × 16 and of 64 × 64, rows of 1024 floats and longer ones."""

import re
import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.lessons.cpu.variants import LARGE, PADDED
from course_lib.plots import Table
from course_lib.run import matches, run_cpu
from course_lib.run.cpu import build_cpu, resolve_cpu
from course_lib.unwritten import is_unwritten, missing

ROUNDS, LINE = 5, 64                    # rounds; bytes of a cache line
SIZES = (16, 64)                        # rows and columns of a block
# The processor time of this thread, where it is counted finely: what other programs take does not belong to it.
CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution <= 1e-6 else time.perf_counter


def with_sizes(mine: str) -> dict[str, str]:
    """Return the reader's loops with b = 16 and with b = 64, by name; as they are, where no line sets b."""
    sets_b = re.compile(r"\bconst int b = \d+;")
    return {f"your loops, b = {b}": sets_b.sub(f"const int b = {b};", mine) for b in SIZES} if sets_b.search(mine) else {"your loops": mine}


def measured(mine: str) -> Table | None:
    """Time ikj and the reader's loops, with blocks of both sizes, in turns on this computer; print why when that cannot be.

    Raises
    ------
    NotWritten
        When the cell is still blank.
    """
    if is_unwritten(mine):
        raise missing(mine)
    if why := toolchain.no_compiler():
        print(f"Nothing is timed here, and nothing below needs it: {why}.")
        return None
    programs, lengths = {"ikj": "gemm_ikj"} | with_sizes(mine), (LARGE, PADDED)
    try:
        calls = {(name, ld): _prepared(program, ld) for ld in lengths for name, program in programs.items()}
    except CourseError as error:
        print(f"Nothing is timed here: {error}.")
        return None
    rounds = [{key: _seconds(call) for key, call in calls.items()} for _ in range(ROUNDS)]
    ms = {key: f"{1e3 * statistics.median(taken[key] for taken in rounds):.3g} ms" for key in calls}
    rows = [(name, *(ms[name, ld] for ld in lengths)) for name in programs]
    caption = f"{LARGE} × {LARGE} matrices, one thread of this computer ({toolchain.cpu_name()}), the middle one of {ROUNDS} times"
    return Table(("", *(f"rows of {ld} floats" for ld in lengths)), rows, caption)


def _seconds(call: Callable[[], None]) -> float:
    start = CLOCK()
    call()
    return CLOCK() - start


def _prepared(program: str, ld: int) -> Callable[[], None]:
    """Return a call that computes C; the program has been tried in a process of its own, and its result is right."""
    A, B, C = (_matrix(ld, seed) for seed in range(3))
    kernel = resolve_cpu(program)
    tried = run_cpu(kernel, A, B, timed=False)
    if tried.printed:
        raise CourseError("loops that print cannot be timed: take the printing out")
    if not matches(tried.C, np.ascontiguousarray(A), np.ascontiguousarray(B)):
        raise CourseError("these loops do not compute the product, so their time says nothing: run `cpu.check`")
    call = toolchain.gemm_call(build_cpu(kernel), kernel.entry, A, B, C)
    call()                              # the first call finds nothing in the caches
    return call


def _matrix(ld: int, seed: int) -> NDArray[np.float32]:
    """Return a matrix whose rows begin `ld` floats apart, the first at a cache line."""
    data = np.random.default_rng(seed).random(LARGE * ld + LINE // 4, dtype=np.float32) - np.float32(0.5)
    begin = -data.ctypes.data % LINE // 4
    return data[begin:begin + LARGE * ld].reshape(LARGE, ld)[:, :LARGE]
