"""Run a kernel: check the arguments, lay out memory, share the thread blocks among workers, report."""

import ctypes
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.errors import LaunchError, SimtError
from course_lib.simt.host import (
    arguments,
    asynchronous,
    build,
    clusters,
    counters,
    faults,
    heap,
    influence,
    limits,
    output,
    products,
    results,
    together,
)
from course_lib.simt.host.limits import Extent, Progress, TracedWarp, WarpOrder
from course_lib.simt.host.memory import aligned, spare, up
from course_lib.simt.host.workers import MOST_THREADS, Sharing, Worker, add_shadow, available_cores
from course_lib.simt.isa import special
from course_lib.simt.ptx.ir import Kind
from course_lib.simt.report import Report
from course_lib.simt.runtime import abi

TRACE_RECORDS, MOST_IMAGES = 400_000, 8  # images of the memory of warps, per kernel


def launch(source: str | Path, entry: str, grid: Extent, block: Extent, args: Iterable[Any], *, defines: Mapping[str, Any] | None = None,
           dynamic_shared: SupportsIndex = 0, constants: Mapping[str, Any] | None = None, racecheck: bool = False,
           max_steps: SupportsIndex | None = None, warp_order: WarpOrder = "forward", workers: SupportsIndex | None = None,
           arch: str = "sm_90", options: Iterable[str] = (), trace: Iterable[TracedWarp] = (), progress: Progress | None = None,
           last_block_first: bool = False, strict_barriers: bool = False, strict_shuffles: bool = False, cluster: Extent | None = None,
           nonportable_cluster: bool = False) -> Report:
    """Run a CUDA kernel on the simulator.

    Parameters
    ----------
    source
        CUDA C text, the path of a `.cu` or `.ptx` file, or PTX text.
    entry
        Name of the kernel, as the source writes it. Of a template, one instance: `sgemm<64, 8>`; `sgemm` where the source makes only one.
    grid, block
        Thread blocks, and threads per block, along x, y, z: up to three numbers.
    args
        One NumPy array, NumPy scalar, Texture, Surface or TensorMap per kernel parameter. Writable arrays are updated in place. A tuple
        of them is a structure, passed by value: members are aligned as in CUDA C, and an array stands for a pointer.
    defines
        Macros, as `-D` on the command line.
    dynamic_shared
        Bytes of dynamic shared memory.
    constants
        Values of `__constant__` and `__device__` variables by name.
    racecheck
        Look for shared-memory hazards, reads of uninitialised shared memory, and fences and waits that `wgmma` lacks (slower). Where values
        are used that nobody has defined, up to three more launches with others find out whether anything depends on them.
    max_steps
        Warp instructions that one warp may execute before the launch is given up as endless.
    warp_order
        "forward", "reverse" or "interleaved": the order in which the warps of a block run, each up to its next barrier; a number is the
        seed of a shuffle. "interleaved" lets them take turns block of code by block of code, nearest to a real GPU.
    workers
        Threads that run blocks side by side; default one for each CPU core.
    trace
        (block, warp) of the warps to record; the block is (x, y, z) or its linear number.
    progress
        Called with (blocks done, blocks in all) now and then.
    last_block_first
        Run an earlier block only while all later ones look at memory in a loop, a warp at a time: shows who reads what is not there yet.
    strict_barriers
        Stop with `DivergentBarrier` when warps meet at barriers of one number in two lines, instead of noting it in `report.meetings`.
    strict_shuffles
        Stop with `InactiveLane` when a shuffle reads a lane that does not take part, instead of noting it in `report.stray_shuffles`.
    cluster, nonportable_cluster
        Blocks of a cluster along x, y, z, where the kernel does not say so (`__cluster_dims__`); the permission for more than 8 of them.

    Raises
    ------
    SimtError
        One of its subclasses; see course_lib.simt.errors.
    """
    started = time.perf_counter()
    blocks, threads = limits.triple(grid, "grid"), limits.triple(block, "block")
    limits.check_kinds(source, entry, arch, progress)
    kernel = build.build(source, entry, block=threads, defines=limits.macros(defines), arch=arch, options=limits.compiler_options(options))
    compiled = time.perf_counter()
    given = arguments.listed(args)
    execution = partial(Execution, kernel, blocks, threads, given, dynamic_shared, constants, racecheck, warp_order=warp_order,
                        last_block_first=last_block_first, cluster=(cluster, nonportable_cluster))
    run = execution(max_steps=max_steps, trace=trace)
    run.launch.strict_barriers, run.launch.strict_shuffles = bool(strict_barriers), bool(strict_shuffles)
    run.execute(workers, progress)
    run.influence = influence.examine(run, results.noted(run), partial(execution, trace=())) if racecheck else {}
    run.given.memory.write_back()
    report = results.report(run, compiled - started, time.perf_counter() - compiled, dict(defines or {}))
    run.release()
    return report


class Execution:
    """One launch; keeps alive every buffer that native code points to."""

    def __init__(self, kernel: build.LoadedKernel, grid: limits.Triple, block: limits.Triple, args: Iterable[Any],
                 dynamic_shared: SupportsIndex, constants: Mapping[str, Any] | None, racecheck: bool, max_steps: SupportsIndex | None,
                 warp_order: WarpOrder, trace: Iterable[TracedWarp], last_block_first: bool = False,
                 cluster: tuple[Extent | None, bool] = (None, False)) -> None:
        self.kernel, self.program, self.grid, self.block = kernel, kernel.program, grid, block
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // abi.LANES)
        self.shared_bytes = self.program.shared_bytes + limits.check_sizes(self.program, grid, block, dynamic_shared)
        self.pinned: list[Any] = []  # what native code points to
        self.large: list[NDArray[np.uint8]] = []  # what of it may serve another launch
        self.racecheck = bool(racecheck)
        self.max_steps = limits.most_steps(max_steps)
        self.together = together.wanted(kernel, grid, self.threads, self.shared_bytes, last_block_first)
        self.cluster, self.explicit = clusters.dimensions(kernel.program, kernel.name, grid, self.together, *cluster)
        self.given = arguments.Arguments(kernel, args, {} if constants is None else constants)
        self.arrays, self.images = self.given.arrays, self.given.images
        self.trace = limits.trace_pairs(trace, grid, self.warps)
        self.order, self.interleaved = limits.warp_sequence(warp_order, self.warps), warp_order == "interleaved"
        self.queues = any(t.function == "copy_async" for t in self.program.tensors.values())
        copies = self.queues or asynchronous.used(self.program) or Kind.WARPGROUP in self.program.of_kind
        named = any(b.counted for b in self.program.barriers.values())
        exact = self.trace[1] or self.interleaved or clusters.blocks(self.cluster) > 1 or racecheck and (copies or named)
        self.uniform = None if exact else kernel.uniform(bool(racecheck))
        self.launch = self._describe_launch()
        self.launch.last_first = bool(last_block_first)
        self.workers: list[Worker] = []
        self.influence: dict[str, str] = {}  # see host/influence.py

    # -- memory ------------------------------------------------------------------------------------
    def pin(self, thing: Any) -> int:
        """Keep a buffer alive; return its address."""
        self.pinned.append(thing)
        return thing.ctypes.data if isinstance(thing, np.ndarray) else ctypes.addressof(thing)

    # -- the runtime's structures ------------------------------------------------------------------
    def _describe_launch(self):
        program, kernel, run = self.program, self.kernel, abi.Launch()
        run.grid[:], run.block[:] = self.grid, self.block
        run.cluster[:], run.cluster_blocks = self.cluster, clusters.blocks(self.cluster)
        run.threads, run.warps, run.blocks_of_code = self.threads, self.warps, len(program.blocks)
        run.array, run.arrays = arguments.array_table(self.given, together.BYTES if self.together else 0, self.pin)
        run.images, run.image_count = self.pin((abi.Image * max(len(self.images), 1))(*self.given.image_records)), len(self.images)
        run.reference = kernel.reference
        if self.uniform is not None:
            run.uniform, found = self.uniform.address, self.uniform.translated
            run.uniform_blocks, run.live_start, run.live = (self.pin(t) for t in (found.blocks, found.live_start, found.live))
        run.block_size = self.pin(np.array([len(b.instructions) for b in program.blocks], np.uint32))
        run.warp_order = self.pin(self.order)
        run.shared_bytes, run.shared_begin, run.local_bytes = self.shared_bytes, program.shared_begin, program.local_bytes
        special = [(number, slot) for number, slot in kernel.special_slots()]
        run.special, run.specials = self.pin(np.array(special or [(99, 0)], np.uint32)), len(special)
        run.poison = influence.ORDINARY
        run.max_steps, run.racecheck, run.interleaved = self.max_steps, self.racecheck, self.interleaved
        run.together = self.together
        run.granule_shift = kernel.granule_shift
        run.trace_pair, run.trace_pairs = self.pin(self.trace[0]), self.trace[1]
        self.output = output.Output(self.kernel.runtime.host_of)
        output.describe_calls(program, self.output, run, self.pin)
        self.heap = heap.make(program, self.pin)
        run.heap = self.pin(self.heap) if self.heap else 0
        run.polls = self.pin(np.array([b.polls for b in program.blocks], np.uint8))
        run.params = run.constants = self.pin(self.given.constants)
        run.constant_bytes = self.given.constants.nbytes
        self._place_warp(run)
        self.stop = np.zeros(1, np.uint32)
        run.stop = self.pin(self.stop)
        return run

    def _place_warp(self, run):
        """Offsets inside the memory of one warp: header, pending masks, registers, uniform memory, local memory."""
        blocks = len(self.program.blocks)
        at = up(ctypes.sizeof(abi.Warp))
        for name, nbytes in (("pending", 4 * blocks), ("bits", 8 * (blocks // 64 + 1)), ("register", self.program.register_bytes),
                             ("uniform", self.uniform.translated.nbytes if self.uniform else 0)):
            setattr(run, f"{name}_offset", at)
            at = up(at + nbytes)
        self.local_offset = at
        self.stack_offset = up(at + up(run.local_bytes, 16) * abi.LANES)
        run.warp_bytes = up(self.stack_offset + (run.stack_bytes + 8) * abi.LANES)

    def _make_worker(self, number):
        """Return a Worker with its own counters, shared memory and warps; the `number`-th block is its own where all are resident."""
        run, arrays = self.launch, counters.empty(self.program)
        worker = abi.Worker.from_buffer(aligned(up(ctypes.sizeof(abi.Worker), 128), 128))
        ctypes.memset(ctypes.addressof(worker), 0, ctypes.sizeof(worker))
        worker.launch = ctypes.addressof(run)
        for name, array in arrays.items():
            setattr(worker, name, self.pin(array))
        worker.shared = self.pin(aligned(run.shared_bytes + 8))
        if self.racecheck:
            self.large += add_shadow(worker, run, self.pin)
        sites = aligned(self.program.site_bytes(), 64)
        sites[:] = 0
        worker.sites = self.pin(sites)
        asynchronous.add(worker, self.program, run, self.racecheck, self.pin)
        if self.queues:
            worker.queues = self.pin(aligned(ctypes.sizeof(abi.Queue) * self.warps))
        if Kind.WARPGROUP in self.program.of_kind:
            worker.products = products.make(self, self.racecheck)
        hazards = (abi.Hazard * abi.MAX_HAZARDS)()
        worker.hazards = self.pin(hazards)
        limit = TRACE_RECORDS if self.trace[1] and (not self.together or number in self.trace[0][::2]) else 0
        records = np.empty(limit * ctypes.sizeof(abi.Record), np.uint8)
        worker.records, worker.record_limit = self.pin(records), limit
        warps = self._make_warps(worker)
        steps = abi.at("steps")
        return Worker(worker, arrays, hazards, records, warps[:, steps:steps + 8].view(np.int64))

    def _make_warps(self, worker):
        """Return the memory of a worker's warps, a row each, with all that is the same at each launch in place."""
        key = (self.grid, self.cluster, self.shared_bytes, self.uniform and self.uniform.address, int(self.launch.warp_bytes))
        image = self.kernel.images.get(key)
        if image is None:
            image = np.zeros((self.warps, self.local_offset), np.uint8)
            for i, raw in enumerate(image):
                self.fill_warp(raw, i)
            self.kernel.images[key] = image          # only now: another thread may launch the same kernel
            while len(self.kernel.images) > MOST_IMAGES:
                self.kernel.images.pop(next(iter(self.kernel.images)), None)
        raw = aligned(int(self.launch.warp_bytes) * self.warps, 64)
        self.large.append(raw)
        worker.warps = self.pin(raw)
        rows = raw.reshape(self.warps, -1)
        rows[:, :self.local_offset], rows[:, self.local_offset:] = image, 0
        for i, row in enumerate(rows):
            self._set_up_warp(row, i, worker)
        return rows

    def fill_warp(self, raw: NDArray[np.uint8], index: int) -> None:
        """Write a warp's special registers and constants."""
        run = self.launch
        static, system = self.program.shared_bytes, special.reserved(self.program.slots)
        sizes = special.sizes(self.program.target, static - system, self.shared_bytes - static)
        sizes["%is_explicit_cluster"] = self.explicit
        self.kernel.fill_special(raw[run.register_offset:run.uniform_offset], index, self.block, self.grid, self.cluster, sizes)
        if self.uniform is not None:
            self.uniform.fill(raw[run.uniform_offset:], special.values(index, self.block, self.grid))

    def _set_up_warp(self, raw, index, worker):
        run, base = self.launch, worker.warps + index * self.launch.warp_bytes
        warp = abi.Warp.from_buffer(raw)
        warp.index, warp.launch, warp.worker = index, ctypes.addressof(run), ctypes.addressof(worker)
        warp.functions = self.kernel.function_table
        warp.pending, warp.bits = base + run.pending_offset, base + run.bits_offset
        warp.registers, warp.uniform = base + run.register_offset, base + run.uniform_offset
        warp.local, warp.shared = base + self.local_offset, worker.shared
        warp.stack = base + self.stack_offset
        warp.params, warp.constants, warp.shared_bytes = run.params, run.params, run.shared_bytes

    def warp_address(self, worker: Any, index: int) -> int:
        """Return where a worker's warp lies."""
        return worker.warps + index * self.launch.warp_bytes

    # -- execution ---------------------------------------------------------------------------------
    def execute(self, workers: SupportsIndex | None, progress: Progress | None) -> None:
        """Run all thread blocks; raise what the lowest one that fails says. The caller's arrays are as they were."""
        total = self.grid[0] * self.grid[1] * self.grid[2]
        wanted = available_cores() if workers is None else limits.positive(workers, "workers", limits.WORKERS_WORDS)
        in_order = self.program.atomics() or self.program.waits_for_blocks() or self.heap
        count = total if self.together else 1 if in_order else min(wanted, MOST_THREADS, total // clusters.blocks(self.cluster))
        of_cluster = clusters.blocks(self.cluster)
        self.workers = [self._make_worker(number) for number in range(count * of_cluster)]
        stack = self.uniform.stack_bytes if self.uniform else 0
        if self.together:
            failed = together.run(self.kernel.runtime.run_together, self.workers, self.stop, progress, stack)
        elif of_cluster > 1:
            failed = clusters.run(self, of_cluster, total // of_cluster, progress)
        else:
            failed = Sharing(self.kernel.run_blocks, self.workers, total, self.stop, progress, stack).run()
        if failed:
            error = faults.explain(self, min(failed, key=lambda f: f[0])[1])
            if isinstance(error, SimtError):
                error.output = self.output.text()
            raise error
        if any(w.record.record_count > TRACE_RECORDS for w in self.workers):
            raise LaunchError(f"The trace has more than {TRACE_RECORDS} records; trace fewer warps or a smaller problem.")

    def release(self) -> None:
        """Leave the large buffers to other launches; this one cannot be asked any more."""
        spare.give([*self.large, *(a.host for a in self.given.memory.allocations)])

    def thread(self, linear: int) -> limits.Triple:
        """Return (x, y, z) of a thread's number in its block."""
        bx, by, _ = self.block
        return linear % bx, linear // bx % by, linear // bx // by
