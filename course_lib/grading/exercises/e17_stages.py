"""Exercise 17, "Three stages": how many steps must be on their way, then a product in float64 whose copies run two steps ahead.

The gates read a launch of one block of four warps with 16 steps along K. With three stages and the copies of step s + 2 ordered before the
product of step s, two steps are on their way during each product but the last two, where one and none are left: 2 / 16 = 0.125 of the
reads of shared memory. Who orders behind the first reads of a step, while others go on, has up to a third, and passes, too. Who orders behind
the product has one step on its way at each read, as who has two stages.

What a step is, in bytes, is the share of one step in what the warp has copied in all. So a copy that nothing needs would make it look further ahead; and
who copies one matrix alone would look as far ahead as who copies both. That is why the bytes of all copies must be those of A and B, with 1 %
on either side.

The starter's rows are not padded: 16 and 32 doubles, one and two lines of all banks. A load wants four doubles of each of four rows at a
time, all in the same banks: 8 wavefronts instead of 2. (In variant b A's tile lies as it is stored, 32 doubles of a column side by side; it
is the same.) Its stores take 2 wavefronts each, without conflict. For a step each of four warps
has 8 loads of A, 8 of B and 8 stores: 6 · 16 / (8 · 16 + 2 · 8) = 96 / 144 = 0.6667.

With beta = 0 an element of C takes a multiplication of a lane at the end, for 256 multiply-adds: 1 / 256. A kernel whose lanes do the
products has more than 1.

How deep a step is, the copies tell: those between two barriers are one step, and those before the first product are two. So a tile twice as
deep as the text says does not make one step two. C must be 0 without what the copies bring, and without the matrix instructions.
"""

import math
from dataclasses import replace

from course_lib import simt
from course_lib.check.case import Case, all_cases
from course_lib.check.sgemm import Sgemm
from course_lib.errors import CourseError
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import Again, copied, products_on_tensor_cores, reads_are_used
from course_lib.grading.judge.spec import Gate, Reading, Spec, by_line, tile_grid
from course_lib.run import counter_name, reads_ahead
from course_lib.run.reads_ahead import copied_bytes
from course_lib.run.traces import is_barrier

EXERCISE = "17_stages"
STEPS, WARPS = 16, 4                   # along K, and of the block, on the input of the gates
EVERY_WARP = tuple(((0, 0, 0), warp) for warp in range(WARPS))
AHEAD = 2                              # steps that must be on their way during a product
PRODUCTS = 16 * 8 * 16                 # multiply-adds of the largest matrix instruction in float64
RATE = 128                             # multiply-adds in float64 of a multiprocessor per cycle
DMMA = "smsp__inst_executed_pipe_tensor_op_dmma.sum"
OF_LANES = tuple(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("dfma", "dadd", "dmul", "ffma", "fadd", "fmul"))
FRONTS = tuple(counter_name("wavefronts", kind) for kind in ("load", "store"))
CONFLICTS = tuple(counter_name("conflicts", kind) for kind in ("load", "store"))

EARLY = "Order the copies of the step after next before the product: cp.async, three stages, and a wait that leaves one group on its way"
ALL = "Every element of A and of B that the block needs comes by cp.async, once"
BANKS = "How many banks apart do rows begin? Four unused doubles at the end of each row put four rows side by side"
MATRIX = "Let the tensor cores do the products: mma.m16n8k8 with f64"


def _steps(report, warp):
    """Return the steps in which a warp copies: stretches between barriers, and the first, behind which `AHEAD` steps are on their way."""
    stretch, found = 0, set()
    for record in report.trace:
        if record.warp == warp:
            stretch += is_barrier(record)
            if copied_bytes(record):
                found.add(stretch)
    return len(found) + AHEAD - 1


def late_reads(report: simt.Report, work: float) -> Reading:
    """Read the share of the reads of shared memory during which fewer than two steps are on their way, counted in the warps' traces."""
    asked = dict.fromkeys(range(WARPS), 0)
    for record in report.trace:
        asked[record.warp] += copied_bytes(record)
    steps = {warp: _steps(report, warp) for warp in asked}
    try:
        reads = reads_ahead(report)
    except CourseError:                        # no wait for any copy
        return Reading(1.0, "nothing is copied asynchronously and waited for")
    late = [read for read in reads if not asked[read.warp] or read.bytes * steps[read.warp] < AHEAD * asked[read.warp]]
    lines = {line: sum(read.line == line for read in late) for line in {read.line for read in late}}
    return Reading(len(late) / max(len(reads), 1), f"{len(late)} / {len(reads)} reads", lines)


def bytes_off(report: simt.Report, work: float) -> Reading:
    """Read by which share the bytes of all asynchronous copies differ from those of A and B, in either direction."""
    needed = sum(array.nbytes for array in report.arrays[:2])
    copied = sum(map(copied_bytes, report.trace))
    return Reading(abs(copied / needed - 1), f"{copied:,} bytes copied, {needed:,} needed")


def conflicts(report: simt.Report, work: float) -> Reading:
    """Read the share of the wavefronts of shared loads and stores that bank conflicts add."""
    count = report.counters
    fronts, more = (sum(count[name] for name in names) for names in (FRONTS, CONFLICTS))
    return Reading(more / max(fronts, 1), f"{more} / {fronts} wavefronts", by_line(report, CONFLICTS))


def by_lanes(report: simt.Report, work: float) -> Reading:
    """Read the multiply-adds of lanes, and those that no tensor core did, for each of the product."""
    count = report.counters
    lanes = max(sum(count[name] for name in OF_LANES), work - PRODUCTS * count[DMMA])
    return Reading(lanes / work, f"{lanes} / {work}", by_line(report, OF_LANES))


GATES = (Gate("shared reads with fewer than two steps on their way, of all", late_reads, 0.5, 1.0, 0.125, EARLY),
         Gate("bytes copied asynchronously, off those of A and B", bytes_off, 0.01, 1.0, 0.0, ALL),
         Gate("bank conflicts, of all shared wavefronts", conflicts, 0.0, 96 / 144, 0.0, BANKS),
         Gate("multiply-adds by lanes, of all", by_lanes, 0.05, 1 / 256, 1 / 256, MATRIX))


def on_padded_rows(again: Again) -> str:
    """Say which gate is not passed where rows are padded; bytes are not read there, as nobody copies what lies between rows."""
    case = replace(again.case, pad=8)
    _, report = again.run(again.ptx, case, trace=EVERY_WARP)
    for gate in GATES:
        reading = gate.read(report, case.M * case.N * case.K)
        if gate.read is not bytes_off and reading.value > gate.limit:
            return f"{gate.name}: {reading.value:.4f} ({reading.words}, {case}), at most {gate.limit:.4f} passes. {gate.advice}"
    return ""


def _plan(BM, BN, BK, latency):
    product = BM * BN * BK / RATE
    return math.ceil(latency / product) + 1, 8 * BK * (BM + BN) / product * latency


def _drawn(rng):
    for latency in (*rng.integers(200, 3000, 4).tolist(), 0):               # the last one is a whole number of products
        BM, BN, BK = (16 * int(rng.integers(1, most)) for most in (9, 9, 5))
        yield BM, BN, BK, latency or BM * BN * BK // RATE * int(rng.integers(2, 6))


def _guess(given, got):
    """Say which mistake gives the first wrong number of two."""
    if not isinstance(got, tuple | list) or len(got) != 2:
        return ""
    stages, size = _plan(*given)
    BM, BN, BK, latency = given
    if got[0] != stages:
        known = {stages - 1: "Stages: that many steps must be on their way, and one more is being multiplied",
                 latency * RATE / (BM * BN * BK) + 1: "Stages: a part of a stage cannot be ordered; round up"}
        return next((says for value, says in known.items() if abs(value - got[0]) < 1e-9), "Look at the stages")
    known = {size / 8: "Bytes: that is doubles; each has 8 bytes", (stages - 1) * 8 * BK * (BM + BN): "Bytes: that is whole steps; Little's law "
             "asks for the bytes per cycle times the latency", 8 * BK * (BM + BN): "Bytes: that is one step's tiles"}
    return next((says for value, says in known.items() if abs(value / got[1] - 1) < 1e-9), "Look at the bytes") if got[1] else "Look at the bytes"


def _cut(tile, rng):
    """Return another input for the gates: one block that is cut, and another number of steps."""
    M, N = (tile[name] - int(rng.integers(0, tile[name] // 4 + 1)) for name in ("BM", "BN"))
    return Case("counters, of a drawn size", M, N, int(rng.integers(STEPS - 4, STEPS + 5)) * tile["BK"], alpha=float(rng.uniform(0.5, 2)))


def _part(part, title, entry, transposed):
    return Spec(EXERCISE, part, title, entry, Sgemm(transposed, dtype="float64"), ("BM", "BN", "BK"), grid=tile_grid,
                block=lambda tile: (32 * WARPS, 1, 1), cases=all_cases,
                gate_case=lambda t: Case("counters", t["BM"], t["BN"], STEPS * t["BK"]), gates=GATES,
                trace=lambda case, tile, rng: EVERY_WARP, gate_drawn=_cut,
                made_of=(products_on_tensor_cores, copied, reads_are_used, on_padded_rows))


PARTS = (
    FunctionSpec(EXERCISE, "plan", "Part 1: how many stages?", "plan", ("BM", "BN", "BK", "latency"),
                 ((64, 64, 16, 692), (64, 64, 32, 1557), (128, 128, 16, 1557), (32, 32, 16, 512), (64, 128, 16, 2048), (32, 64, 16, 257)),
                 _drawn, _plan, tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: two steps ahead", "staged", ""),
    _part("main-b", "Part 2: two steps ahead (A stored column by column)", "staged_at", "A"),
)
