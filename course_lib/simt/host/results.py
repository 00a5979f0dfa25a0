"""From a finished run to a Report: counters summed over workers, hazards and trace with lines and threads."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.simt import async_report
from course_lib.simt.async_report import AsyncFinding, Pipeline, ProductFinding
from course_lib.simt.host import counters, faults, lane_faults, levels
from course_lib.simt.host.fault_places import variable_at
from course_lib.simt.host.running import Running
from course_lib.simt.ptx.ir import Imm, Instruction
from course_lib.simt.report import BarrierMeeting, Hazard, LostAlignment, Report, SharedVariable, StrayShuffle, TraceRecord
from course_lib.simt.runtime import abi

MEETING, STRAY = "meeting", "stray"  # what the runtime notes among the hazards and is none
RECORD = np.dtype(abi.Record)
ROLES = ("neither", "copies", "products", "both")       # by WarpRole of runtime/structures.cuh


def report(run: Running, seconds_compile: float, seconds_run: float, defines: Mapping[str, Any]) -> Report:
    """Return the Report of a finished run."""
    sums, total, lines = counters.counted(run)
    shared = tuple(SharedVariable(*v) for v in run.program.shared)
    facts = levels.facts_of(run.program, sums["dynamic"], sums["deopts"][:, 1], total[counters.COPY_EXECUTED] > 0)
    level = levels.Levels(counters.NAMES, run.program.entry, run.kernel.cubin, facts)
    unfreed = (run.heap.allocated, run.heap.bytes) if run.heap is not None else (0, 0)
    return Report(run.kernel.name, total, lines, level, hazards(run), trace(run), tuple(run.arrays), shared,
                  total[counters.EXECUTED], seconds_compile, seconds_run, run.kernel.ptx, run.output.text(), run.kernel.cubin, defines,
                  meetings(run), tuple(LostAlignment(*lost) for lost in run.program.lost_alignments),
                  unfreed[0], unfreed[1], stray_shuffles(run), products(run), run.program.entry, async_findings(run),
                  pipeline(run))


def noted(run: Running) -> set[str]:
    """Return the kinds of what the workers noted."""
    return {abi.HAZARDS[h.kind] for worker in run.workers for h in worker.hazards[:worker.record.hazard_count]}


def hazards(run: Running) -> tuple[Hazard, ...]:
    """Return the accesses to shared memory that nothing puts in order."""
    return tuple(h for h in logged(run) if h.kind not in (MEETING, STRAY, *async_report.KINDS, *async_report.OF_PRODUCTS))


def meetings(run: Running) -> tuple[BarrierMeeting, ...]:
    """Return the barriers of two lines at which warps of one block met."""
    return tuple(BarrierMeeting(h.address, h.first_line, h.second_line, h.first_thread, h.second_thread, h.block, h.count)
                 for h in logged(run) if h.kind == MEETING)


def products(run: Running) -> tuple[ProductFinding, ...]:
    """Return what products of warpgroups lack."""
    return tuple(ProductFinding(h.kind, h.first_line, h.second_line, h.first_thread, h.second_thread, h.block, h.count, h.first_header,
                                h.second_header) for h in logged(run) if h.kind in async_report.OF_PRODUCTS)


def stray_shuffles(run: Running) -> tuple[StrayShuffle, ...]:
    """Return the shuffles that read lanes which took no part."""
    bx, by, _ = run.block
    found = []
    for h in logged(run):
        if h.kind == STRAY:
            x, y, z = h.second_thread
            source = x + bx * (y + by * z)
            found.append(StrayShuffle(h.first_line, h.first_thread, h.block, source % abi.LANES, h.address,
                                      lane_faults.absence(source, h.address, run.threads), h.count, h.first_header, h.influence))
    return tuple(found)


def async_findings(run: Running) -> tuple[AsyncFinding, ...]:
    """Return which rules of bulk copies and mbarriers were broken, beside the order of accesses."""
    return tuple(AsyncFinding(h.kind, h.first_line, h.second_line, h.first_thread, h.second_thread, h.first_block or h.block, h.count,
                              h.array, h.offset, h.first_header, h.second_header,
                              h.block if h.first_block not in (None, h.block) else None)
                 for h in logged(run) if h.kind in async_report.KINDS)


def pipeline(run: Running) -> Pipeline | None:
    """Return how far copies ran ahead and who issued what; None where there is no asynchronous work."""
    stages, warps, steps = (np.sum([np.frombuffer(getattr(worker.record, name), np.uint64) for worker in run.workers], axis=0).tolist()
                            for name in ("stages", "role_warps", "role_steps"))
    if not any(stages) and not any(warps[1:]):
        return None
    return Pipeline({n: times for n, times in enumerate(stages) if times}, dict(zip(ROLES, warps, strict=True)),
                    dict(zip(ROLES, steps, strict=True)))


def logged(run: Running) -> tuple[Hazard, ...]:
    """Join what the workers noted: one entry per kind and pair of lines, with the first example.

    Code of a header that no line of the reader leads to is told apart by its place there.
    """
    found: dict[tuple[str, int, int, str, str], Hazard] = {}
    for worker in run.workers:
        for h in worker.hazards[:worker.record.hazard_count]:
            first, second = (run.program.instructions[n] for n in (h.first, h.second))
            places = (i.header if not i.line else "" for i in (first, second))
            key = (abi.HAZARDS[h.kind], first.line, second.line, *places)
            entry = Hazard(key[0], h.address, first.line, second.line, run.thread(h.first_thread - 1), run.thread(h.second_thread - 1),
                           tuple(h.block), h.count, copies(first), copies(second) and first.opcode[0] != "mbarrier",
                           (h.first_thread - 1) // abi.LANES == (h.second_thread - 1) // abi.LANES, *variable_at(run, h.address),
                           first.header, second.header, run.influence.get(key[0]), bulk="bulk" in first.opcode + second.opcode,
                           first_multiplies=first.opcode[0] == "wgmma", first_block=block_at(run, h.first_in),
                           owner=block_at(run, h.lies_in))
            found[key] = joined(found[key], entry) if key in found else entry
    return tuple(found[key] for key in sorted(found))


def block_at(run: Running, number: int) -> tuple[int, int, int] | None:
    """Return (x, y, z) of a block; `number` is one more than its linear number, 0 for none."""
    x, y, _ = run.grid
    return ((number - 1) % x, (number - 1) // x % y, (number - 1) // x // y) if number else None


def copies(ins: Instruction) -> bool:
    """Say whether an instruction is an asynchronous copy."""
    return ins.opcode[0] == "cp" and "mbarrier" not in ins.opcode


def joined(old: Hazard, new: Hazard) -> Hazard:
    """Return the example of the earlier block with the counts of both."""
    first = min((old, new), key=lambda h: (h.block[::-1], h.address))
    return dataclasses.replace(first, count=old.count + new.count)


def trace(run: Running) -> tuple[TraceRecord, ...]:
    """Return the records of all workers, in the order of blocks."""
    rows = np.concatenate([np.frombuffer(worker.records, RECORD, worker.record.record_count) for worker in run.workers])
    rows = rows[np.argsort(rows["block"], kind="stable")]
    addresses = rows["address"].astype(np.int64)
    plain = zip(*(rows[name].tolist() for name in ("step", "block", "warp", "access", "mask")), strict=True)
    records = []
    for (step, block, warp, number, mask), of_lanes in zip(plain, addresses, strict=True):
        ins, access = run.program.instructions[number], run.program.accesses.get(number)
        x, y = block % run.grid[0], block // run.grid[0]
        width = access.width * access.count if access else 0
        records.append(TraceRecord(step, (x, y % run.grid[1], y // run.grid[1]), warp, ins.line, operation(ins), mask, of_lanes, width,
                                   faults.space_name(access, of_lanes)))
    return tuple(records)


def operation(ins: Instruction) -> str:
    """Return what a trace calls an instruction: its name, and the groups that a wait for asynchronous copies leaves under way."""
    waits = ins.name.removesuffix(".read") in ("cp.async.wait_group", "cp.async.bulk.wait_group") and isinstance(ins.operands[0], Imm)
    name = ins.name.replace("__", "::")
    return f"{name} {ins.operands[0].value}" if waits else name
