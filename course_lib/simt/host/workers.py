"""Threads that run the thread blocks of a grid side by side, find the lowest one that fails, and end soon when told to."""

import ctypes
import functools
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.codegen import native
from course_lib.simt.host.memory import aligned, up
from course_lib.simt.runtime import abi

MOST_THREADS = 256
NOTHING_LEFT = -(1 << 62)  # a step budget that stays used up
USUAL_BYTES = 2 << 20  # of frames that every thread has room for: systems give it 8 MB, or 512 KB and Python 16 MB
SPARE_BYTES = 1 << 20  # of stack for the runtime's functions and Python's own


@functools.cache
def pool(stack_bytes: int = 0) -> futures.ThreadPoolExecutor:
    """Return the process's threads with stacks of so many bytes; 0: of the system's usual size.

    They are started when needed, and wait for the next launch: a new one costs as much as a small one.
    """
    return futures.ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="simt")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # threads stay behind in the parent
_stack_size = native.fork_safe_lock()  # which is the process's, not a thread's


def add_shadow(worker: abi.Worker, launch: abi.Launch, pin: Callable[[Any], int]) -> list[NDArray[np.uint8]]:
    """Give a worker what racecheck records about shared memory (runtime/hazards.cuh); return what of it another launch may use again."""
    cells = (launch.shared_bytes >> launch.granule_shift) + 1
    shadow, notes = aligned(cells * ctypes.sizeof(abi.Cell)), aligned(abi.NOTE_BYTES + 1024)
    worker.shadow = pin(shadow)
    worker.epochs = pin(aligned(up(4 * cells)))
    worker.lines = pin(aligned(4 * (launch.shared_bytes // abi.LINE_BYTES + 1)))
    worker.notes = worker.next_note = pin(notes)
    worker.last_note, worker.cells_used = worker.notes + abi.NOTE_BYTES, 1
    return [shadow, notes]


class Steps(Protocol):
    """Step budgets that one assignment sets."""

    def __setitem__(self, where: slice, value: int, /) -> None: ...


@dataclass
class Worker:
    """What one thread works with: the runtime's record of it, its counters, hazards and trace, its warps' step budgets."""

    record: abi.Worker
    arrays: dict[str, NDArray[np.uint64]]
    hazards: Sequence[abi.Hazard]
    records: NDArray[np.uint8]
    steps: Steps

    @property
    def address(self) -> int:
        """Where the runtime finds the record."""
        return ctypes.addressof(self.record)


def submit(stack_bytes: int, work: Callable[[Worker], object], worker: Worker) -> None:
    """Have a thread do some work, one with a stack for frames of so many bytes."""
    if stack_bytes <= USUAL_BYTES:
        pool().submit(work, worker)
        return
    stack = 1 << (stack_bytes + SPARE_BYTES).bit_length()  # few sizes, so that launches share threads
    with _stack_size:
        before = threading.stack_size(stack)
        try:
            pool(stack).submit(work, worker)
        finally:
            threading.stack_size(before)


class Sharing:
    """The blocks of one grid, handed out in order, chunk by chunk.

    Parameters
    ----------
    run_blocks
        (address of a worker's record, first, last) -> 0, or 1 after a fault that the record describes.
    total
        Blocks in the grid.
    stop
        (1,): the flag that the runtime looks at after every warp.
    progress
        Called with (blocks done, blocks in all) now and then.
    stack_bytes
        Of the largest frame of the kernel's code.
    """

    def __init__(self, run_blocks: Callable[[int, int, int], int], workers: Sequence[Worker], total: int, stop: NDArray[np.uint32],
                 progress: Callable[[int, int], object] | None = None, stack_bytes: int = 0) -> None:
        self.run_blocks, self.workers, self.total, self.stop, self.progress = run_blocks, workers, total, stop, progress
        self.stack_bytes = stack_bytes
        shared = len(workers) > 1 or progress
        self.chunk = max(1, min(-(-total // (len(workers) * 4)), 4096)) if shared else total
        self.chunks = iter(range(0, total, self.chunk))
        self.done, self.failed = 0, total
        self.answers: list[tuple[int, Any] | None] = []
        self.errors: list[BaseException] = []
        self.at_work, self.to_come = 0, len(workers)
        self.counting, self.finished = threading.Lock(), threading.Lock()      # among the workers; for the main thread

    def run(self) -> list[tuple[int, Any]]:
        """Run all blocks; return (block number, record) of each worker that met a fault.

        Threads of their own do the work even when there is one worker: Ctrl-C reaches the main thread only while it runs Python.
        """
        alone = len(self.workers) == 1 and not self.progress and self.stack_bytes <= USUAL_BYTES
        if alone and threading.current_thread() is not threading.main_thread():
            answers = [self._work(self.workers[0])]
        else:
            answers = self._run_in_threads()
        if self.progress:
            self.progress(self.done, self.total)
        return [answer for answer in answers if answer is not None]

    def _run_in_threads(self):
        """Return the answers of all workers.

        What the main thread waits for is one lock of C. An object of Python, such as a future, has locks inside; Ctrl-C may come just
        after the main thread has taken one, and then nobody ever gives it back to the thread that wants to say that it is done.
        """
        self.finished.acquire()
        try:
            for worker in self.workers:
                submit(self.stack_bytes, self._work_in_pool, worker)
            while not self.finished.acquire(timeout=0.05):
                if self.progress:
                    self.progress(self.done, self.total)
        except BaseException:
            self._give_up()
            raise
        for error in self.errors:
            raise error
        return self.answers

    def _work_in_pool(self, worker):
        """Work in a thread of the pool; the last one to end says so. One that begins after Ctrl-C finds the flag, and ends."""
        with self.counting:
            self.at_work += 1
        try:
            self.answers.append(self._work(worker))
        except BaseException as error:
            self.errors.append(error)
        finally:
            with self.counting:
                self.at_work -= 1
                self.to_come -= 1
                if not self.to_come:
                    self.finished.release()

    def _give_up(self):
        """End the threads at work by taking away their warps' steps; again and again, as they write them back."""
        self.stop[0] = 1
        while True:
            try:
                while self.at_work:
                    for worker in self.workers:
                        worker.steps[:] = NOTHING_LEFT
                    time.sleep(0.001)
                return
            except KeyboardInterrupt:
                pass

    def _work(self, worker):
        """Run chunks until none is left that could hold the lowest failing block; return the fault, or None."""
        for first in self.chunks:
            last = min(first + self.chunk, self.total)
            if self.stop[0] or first > self.failed:
                return None
            if self.run_blocks(ctypes.addressof(worker.record), first, last):
                self.failed = min(self.failed, worker.record.block_number)
                return worker.record.block_number, worker.record
            self.done += last - first
        return None


def available_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
