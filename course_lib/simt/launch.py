"""Run a kernel: check the arguments, lay out memory, share the thread blocks among workers, report."""

import ctypes
import time

import numpy as np

from course_lib.simt.errors import LaunchError
from course_lib.simt.host import build, counters, faults, limits, output, results
from course_lib.simt.host.arguments import Arguments
from course_lib.simt.host.memory import aligned, spare
from course_lib.simt.host.workers import MOST_THREADS, Sharing, Worker, available_cores
from course_lib.simt.isa import special
from course_lib.simt.passes import calls
from course_lib.simt.runtime import abi

MAX_STEPS = 50_000_000  # warp instructions of one warp
TRACE_RECORDS = 400_000
KEPT_IMAGES = 8  # of the memory of warps, per kernel
STEPS_WORDS = "a positive number of warp instructions, or None for 50,000,000"
WORKERS_WORDS = "a positive integer, or None for one for each CPU core"


def launch(source, entry, grid, block, args, *, defines=None, dynamic_shared=0, constants=None, racecheck=False,
           max_steps=None, warp_order="forward", workers=None, arch="sm_90", options=(), trace=(), progress=None):
    """Run a CUDA kernel on the simulator.

    Parameters
    ----------
    source : str or path
        CUDA C text, the path of a `.cu` or `.ptx` file, or PTX text.
    entry : str
        Name of the kernel (`extern "C" __global__`).
    grid, block : int or tuple of up to three ints
        Thread blocks, and threads per block, along x, y, z.
    args : sequence
        One NumPy array or NumPy scalar per kernel parameter. Writable arrays are updated in place.
    defines : mapping, optional
        Macros, as `-D` on the command line.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    constants : mapping, optional
        Values of `__constant__` variables by name.
    racecheck : bool
        Look for shared-memory hazards and reads of uninitialised shared memory (slower).
    max_steps : int, optional
        Warp instructions that one warp may execute before the launch is given up as endless.
    warp_order : "forward", "reverse", "interleaved" or int
        The order in which the warps of a block run, each up to its next barrier; a number is the seed of a shuffle.
        "interleaved" lets them take turns block of code by block of code, which is nearest to a real GPU.
    workers : int, optional
        Threads that run blocks side by side; default one for each CPU core.
    trace : iterable of (block, warp)
        Warps to record; the block is (x, y, z) or its linear number.
    progress : callable, optional
        Called with (blocks done, blocks in all) now and then.

    Returns
    -------
    Report

    Raises
    ------
    SimtError
        One of its subclasses; see course_lib.simt.errors.
    """
    started = time.perf_counter()
    grid, block = limits.triple(grid, "grid"), limits.triple(block, "block")
    limits.check_kinds(source, entry, arch, progress)
    kernel = build.build(source, entry, block=block, defines=limits.macros(defines), arch=arch, options=limits.compiler_options(options))
    compiled = time.perf_counter()
    run = Execution(kernel, grid, block, args, dynamic_shared, constants, racecheck, max_steps, warp_order, trace)
    run.execute(workers, progress)
    report = results.report(run, compiled - started, time.perf_counter() - compiled, dict(defines or {}))
    spare.give([*run.large, *(a.host for a in run.given.memory.allocations)])
    return report


class Execution:
    """One launch; keeps alive every buffer that native code points to."""

    def __init__(self, kernel, grid, block, args, dynamic_shared, constants, racecheck, max_steps, warp_order, trace):
        self.kernel, self.program, self.grid, self.block = kernel, kernel.program, grid, block
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // abi.LANES)
        self.shared_bytes = self.program.shared_bytes + limits.check_sizes(self.program, grid, block, dynamic_shared)
        self.keep, self.large = [], []  # what native code points to; what of it may serve another launch
        self.racecheck = bool(racecheck)
        self.max_steps = MAX_STEPS if max_steps is None else min(limits.positive(max_steps, "max_steps", STEPS_WORDS), limits.LARGEST)
        self.given = Arguments(kernel, args, {} if constants is None else constants)
        self.arrays = self.given.arrays
        self.trace = limits.trace_pairs(trace, grid, self.warps)
        self.order, self.interleaved = limits.warp_sequence(warp_order, self.warps), warp_order == "interleaved"
        copies = any(t.function == "copy_async" for t in self.program.tensors.values())
        named = any(b.counted for b in self.program.barriers.values())
        exact = self.trace[1] or self.interleaved or racecheck and (copies or named)  # both are beyond a barrier's epoch
        self.fast = None if exact else kernel.fast(bool(racecheck))
        self.launch = self.describe_launch()
        self.workers = []

    # -- memory ------------------------------------------------------------------------------------
    def array_table(self):
        entries = [(a.address, a.address + a.host.nbytes, a.host.ctypes.data, a.writable) for a in self.given.memory.allocations]
        if self.given.variables.nbytes:
            variables, at = self.given.variables, abi.GLOBAL_VARIABLES
            entries.append((at, at + variables.nbytes, variables.ctypes.data, True))
        table = (abi.Array * max(len(entries), 1))()
        for slot, (lo, hi, host, writable) in zip(table, entries):
            slot.lo, slot.hi, slot.host, slot.writable = lo, hi, host, writable
        return self.pin(table), len(entries)

    def pin(self, thing):
        """Keep a buffer alive; return its address."""
        self.keep.append(thing)
        return thing.ctypes.data if isinstance(thing, np.ndarray) else ctypes.addressof(thing)

    # -- the runtime's structures ------------------------------------------------------------------
    def describe_launch(self):
        program, kernel, run = self.program, self.kernel, abi.Launch()
        run.grid[:], run.block[:] = self.grid, self.block
        run.threads, run.warps, run.blocks_of_code = self.threads, self.warps, len(program.blocks)
        run.array, run.arrays = self.array_table()
        run.masked = kernel.masked
        if self.fast is not None:
            run.fast = self.fast.address
            fast = self.fast.translated
            run.fastable, run.live_start, run.live = (self.pin(t) for t in (fast.fastable, fast.live_start, fast.live))
        run.block_size = self.pin(np.array([len(b.instructions) for b in program.blocks], np.uint32))
        run.warp_order = self.pin(self.order)
        run.shared_bytes, run.local_bytes = self.shared_bytes, program.local_bytes
        special = [(number, slot) for number, slot in kernel.special_slots()]
        run.special, run.specials = self.pin(np.array(special or [(99, 0)], np.uint32)), len(special)
        run.max_steps, run.racecheck, run.interleaved = self.max_steps, self.racecheck, self.interleaved
        run.granule_shift = kernel.granule_shift
        run.trace_pair, run.trace_pairs = self.pin(self.trace[0]), self.trace[1]
        self.describe_calls(run)
        run.polls = self.pin(np.array([b.polls for b in program.blocks], np.uint8))
        run.params = run.constants = self.pin(self.given.constants)
        run.constant_bytes = self.given.constants.nbytes
        self.place_warp(run)
        self.stop = np.zeros(1, np.uint32)
        run.stop = self.pin(self.stop)
        return run

    def describe_calls(self, run):
        """Functions, calls and the stack; without any, a kernel's local memory is its own frame."""
        self.output = output.Output(self.kernel.runtime.host_of)
        run.entry_block, run.kernel_frame = self.program.entry_block, self.program.local_bytes
        if not self.program.linked.has_calls:
            return
        found, callees, data, _ = self.program.calls
        run.calls, run.callees = self.pin((abi.Call * max(len(found), 1))(*found)), self.pin((abi.Callee * len(callees))(*callees))
        run.callee_count, run.call_data = len(callees), self.pin(np.array(data or [(0, 0)], np.uint32))
        run.stack_bytes = calls.STACK_BYTES
        run.local_bytes = up(run.kernel_frame, 16) + calls.STACK_BYTES
        run.frame_slot = self.program.slots[calls.FRAME.name][0]
        run.print = ctypes.cast(self.output.callback, ctypes.c_void_p).value

    def place_warp(self, run):
        """Offsets inside the memory of one warp: header, pending masks, registers, fast registers, local memory."""
        blocks = len(self.program.blocks)
        at = up(ctypes.sizeof(abi.Warp))
        for name, nbytes in (("pending", 4 * blocks), ("bits", 8 * (blocks // 64 + 1)), ("register", self.program.register_bytes),
                             ("fast", self.fast.translated.nbytes if self.fast else 0)):
            setattr(run, f"{name}_offset", at)
            at = up(at + nbytes)
        self.local_offset = at
        self.stack_offset = up(at + up(run.local_bytes, 16) * abi.LANES)
        run.warp_bytes = up(self.stack_offset + (run.stack_bytes + 8) * abi.LANES)

    def make_worker(self):
        """Return a Worker with its own counters, shared memory and warps."""
        run, arrays = self.launch, counters.empty(self.program)
        worker = abi.Worker.from_buffer(aligned(up(ctypes.sizeof(abi.Worker), 128), 128))
        ctypes.memset(ctypes.addressof(worker), 0, ctypes.sizeof(worker))
        worker.launch = ctypes.addressof(run)
        for name, array in arrays.items():
            setattr(worker, name, self.pin(array))
        worker.shared = self.pin(aligned(run.shared_bytes + 8))
        if self.racecheck:
            self.add_shadow(worker)
        sites = aligned(abi.SITE_BYTES * len(self.program.accesses), 64)
        sites[:] = 0
        worker.sites = self.pin(sites)
        if any(t.function == "copy_async" for t in self.program.tensors.values()):
            worker.queues = self.pin(aligned(ctypes.sizeof(abi.Queue) * self.warps))
        hazards = (abi.Hazard * abi.MAX_HAZARDS)()
        worker.hazards = self.pin(hazards)
        limit = TRACE_RECORDS if self.trace[1] else 0
        records = np.empty(limit * ctypes.sizeof(abi.Record), np.uint8)
        worker.records, worker.record_limit = self.pin(records), limit
        warps = self.make_warps(worker)
        steps = abi.at("steps")
        return Worker(worker, arrays, hazards, records, warps[:, steps:steps + 8].view(np.int64))

    def add_shadow(self, worker):
        """Give a worker what racecheck keeps about shared memory; see runtime/hazards.cuh."""
        cells = (self.launch.shared_bytes >> self.launch.granule_shift) + 1
        shadow, notes = aligned(cells * ctypes.sizeof(abi.Cell)), aligned(abi.NOTE_BYTES + 1024)
        self.large += [shadow, notes]
        worker.shadow = self.pin(shadow)
        worker.epochs = self.pin(aligned(up(4 * cells)))
        worker.lines = self.pin(aligned(4 * (self.launch.shared_bytes // abi.LINE_BYTES + 1)))
        worker.notes = worker.next_note = self.pin(notes)
        worker.last_note, worker.cells_used = worker.notes + abi.NOTE_BYTES, 1

    def make_warps(self, worker):
        """Return the memory of a worker's warps, a row each, with all that is the same at each launch in place."""
        key = (self.grid, self.shared_bytes, self.fast and self.fast.address, int(self.launch.warp_bytes))
        image = self.kernel.images.get(key)
        if image is None:
            image = np.zeros((self.warps, self.local_offset), np.uint8)
            for i, raw in enumerate(image):
                self.fill_warp(raw, i)
            self.kernel.images[key] = image          # only now: another thread may launch the same kernel
            while len(self.kernel.images) > KEPT_IMAGES:
                self.kernel.images.pop(next(iter(self.kernel.images)), None)
        raw = aligned(int(self.launch.warp_bytes) * self.warps, 64)
        self.large.append(raw)
        worker.warps = self.pin(raw)
        rows = raw.reshape(self.warps, -1)
        rows[:, :self.local_offset], rows[:, self.local_offset:] = image, 0
        for i, row in enumerate(rows):
            self.set_up_warp(row, i, worker)
        return rows

    def fill_warp(self, raw, index):
        """Write a warp's special registers and constants."""
        run = self.launch
        sizes = special.sizes(self.program.shared_bytes, self.shared_bytes - self.program.shared_bytes)
        self.kernel.fill_special(raw[run.register_offset:run.fast_offset], index, self.block, self.grid, sizes)
        if self.fast is not None:
            self.fast.fill(raw[run.fast_offset:], special.values(index, self.block, self.grid))

    def set_up_warp(self, raw, index, worker):
        run, base = self.launch, worker.warps + index * self.launch.warp_bytes
        warp = abi.Warp.from_buffer(raw)
        warp.index, warp.launch, warp.worker = index, ctypes.addressof(run), ctypes.addressof(worker)
        warp.functions = self.kernel.function_table
        warp.pending, warp.bits = base + run.pending_offset, base + run.bits_offset
        warp.registers, warp.fast = base + run.register_offset, base + run.fast_offset
        warp.local, warp.shared = base + self.local_offset, worker.shared
        warp.stack = base + self.stack_offset
        warp.params, warp.constants, warp.shared_bytes = run.params, run.params, run.shared_bytes

    def warp_address(self, worker, index):
        """Return where a worker's warp lies."""
        return worker.warps + index * self.launch.warp_bytes

    # -- execution ---------------------------------------------------------------------------------
    def execute(self, workers, progress):
        total = self.grid[0] * self.grid[1] * self.grid[2]
        workers = available_cores() if workers is None else limits.positive(workers, "workers", WORKERS_WORDS)
        workers = 1 if self.program.atomics() else min(workers, MOST_THREADS, total)
        self.workers = [self.make_worker() for _ in range(workers)]
        failed = Sharing(self.kernel.run_blocks, self.workers, total, self.stop, progress).run()
        if failed:
            number, worker = min(failed, key=lambda f: f[0])
            error = faults.explain(self, worker)
            error.output = self.output.text()
            raise error
        if any(w.record.record_count > TRACE_RECORDS for w in self.workers):
            raise LaunchError(f"The trace has more than {TRACE_RECORDS} records; trace fewer warps or a smaller problem.")
        self.given.memory.write_back()

    def thread(self, linear):
        """Return (x, y, z) of a thread's number in its block."""
        bx, by, _ = self.block
        return linear % bx, linear // bx % by, linear // bx // by


def up(n, align=64):
    return -(-int(n) // align) * align
