"""From a finished run to a Report: counters summed over workers, hazards and trace with lines and threads."""

import numpy as np

from course_lib.simt.host import counters, faults, levels
from course_lib.simt.report import Hazard, Report, SharedVariable, TraceRecord
from course_lib.simt.runtime import abi

RECORD = np.dtype(abi.Record)


def report(run, seconds_compile, seconds_run, defines):
    """Return the Report of a finished run (an Execution)."""
    sums = {name: sum(w.arrays[name].astype(np.int64) for w in run.workers) for name in run.workers[0].arrays}
    if run.fast is not None:
        run.fast.add_counts(sums)
    total, lines = counters.collect(run.program, sums["executed"], sums["threads"], sums["dynamic"], sums["deopts"][:, 1])
    shared = tuple(SharedVariable(*v) for v in run.program.shared)
    level = levels.Levels(counters.NAMES, run.program.entry, run.kernel.cubin, levels.predict(run.program),
                          levels.is_sure(run.program, sums["deopts"][:, 1]))
    return Report(run.program.entry, total, lines, level, hazards(run), trace(run), tuple(run.arrays), shared,
                  total[counters.EXECUTED], seconds_compile, seconds_run, run.kernel.ptx, run.output.text(), run.kernel.cubin, defines)


def hazards(run):
    """Join the workers' hazards: one entry per kind and pair of lines, with the first example."""
    found = {}
    for worker in run.workers:
        for h in worker.hazards[:worker.record.hazard_count]:
            lines = [run.program.instructions[n].line for n in (h.first, h.second)]
            key = (abi.HAZARDS[h.kind], *lines)
            threads = [run.thread(t - 1) for t in (h.first_thread, h.second_thread)]
            entry = Hazard(key[0], h.address, *lines, *threads, tuple(h.block), h.count)
            found[key] = joined(found[key], entry) if key in found else entry
    return tuple(found[key] for key in sorted(found))


def joined(old, new):
    """Keep the example of the earlier block, add the counts."""
    first = min((old, new), key=lambda h: (h.block[::-1], h.address))
    return Hazard(first.kind, first.address, first.first_line, first.second_line, first.first_thread, first.second_thread,
                  first.block, old.count + new.count)


def trace(run):
    """Return the TraceRecords of all workers, in the order of blocks."""
    rows = np.concatenate([np.frombuffer(worker.records, RECORD, worker.record.record_count) for worker in run.workers])
    rows = rows[np.argsort(rows["block"], kind="stable")]
    addresses = rows["address"].astype(np.int64)
    plain = zip(*(rows[name].tolist() for name in ("step", "block", "warp", "access", "mask")), strict=True)
    records = []
    for (step, block, warp, number, mask), of_lanes in zip(plain, addresses, strict=True):
        ins, access = run.program.instructions[number], run.program.accesses.get(number)
        x, y = block % run.grid[0], block // run.grid[0]
        width = access.width * access.count if access else 0
        records.append(TraceRecord(step, (x, y % run.grid[1], y // run.grid[1]), warp, ins.line, ins.name, mask, of_lanes, width,
                                   faults.space_name(access, of_lanes)))
    return tuple(records)
