"""What feeds a multiply-add: for each kernel of lesson 15 the cycles that each part needs for one, and what was recorded."""

from functools import cache
from typing import Any, NamedTuple

from course_lib import data
from course_lib.arch import WARP, device
from course_lib.bench.closing import CLOCK_N, SHARED_OUT, steps
from course_lib.explorables.reads import CODES, machine_code
from course_lib.kernels import Kernel, UserKernel, get
from course_lib.model.operands import MEASURED_CYCLES, operand_reads
from course_lib.plots import Table
from course_lib.run import RunResult, kernel_reads, run
from course_lib.toolchain import LoopPath, inner_loop, shortest_path
from course_lib.widgets.compute import inputs

N = CLOCK_N                                 # of the recorded times
COUNTED, DEPTH = 256, 64                    # rows and columns of C, and K, of the products that the simulator counts
SCHEDULERS = 4
OUTPUTS = 64                                # of a thread, in all kernels but sgemm_stream_k
STREAM = "sgemm_stream_k, one tile"
NAMES = {
    "sgemm_2d_tile": "lesson 08, 8 × 8 outputs", "wide": "lanes as in sgemm_vectorized", "wide_paired": "lanes in squares, 16 × 128",
    "fed_in_rows": "lanes in squares, 64 × 32", "fed": "64 × 32, there and back (yours)",
    "wide_there_and_back": "lanes as in sgemm_vectorized, there and back", "sgemm_vectorized": "sgemm_vectorized",
    "warp_tile_late": "sgemm_warp_tile, loads late", "sgemm_warp_tile": "sgemm_warp_tile",
    "warp_tile_there_and_back": "sgemm_warp_tile, there and back", "sgemm_double_buffered": "sgemm_double_buffered",
    STREAM: "sgemm_stream_k"}
SCORED = ("sgemm_2d_tile", "sgemm_vectorized", "fed", "sgemm_warp_tile", "warp_tile_there_and_back", "sgemm_double_buffered", STREAM)
LANES = ("wide", "wide_paired", "fed_in_rows")      # one text, in which only the place of the lanes differs


class Cycles(NamedTuple):
    """The cycles of a scheduler per multiply-add of a warp that each part needs at least, and those that were recorded (0: none)."""

    issue: float
    shared: float
    registers: float
    recorded: float


def kernel_of(name: str) -> tuple[Kernel, dict[str, Any]]:
    """Return a recorded kernel by its name, and the parameters that it was recorded with where these are not its own."""
    if name == STREAM:
        return get("sgemm_stream_k"), SHARED_OUT | {"WIDE": 4, "TRANSA": 0, "TRANSB": 0, "blocks": 4}
    return steps()[name], {}


@cache
def counted(name: str) -> RunResult:
    """Return the simulated launch of a recorded kernel whose counts are used here: whole tiles only."""
    kernel, given = kernel_of(name)
    return launch(kernel, **given)


def launch(kernel: Kernel, **given: Any) -> RunResult:
    """Simulate a product of 256 × 256 elements with K = 64."""
    A, B, _ = inputs(COUNTED, COUNTED, DEPTH)
    return run(kernel, A, B, backend="sim", **given)


def per_multiply_add(result: RunResult) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores."""
    waves = result.count("wavefronts", "load") + result.count("wavefronts", "store")
    return WARP * waves / (COUNTED**2 * DEPTH)


def row(name: str, n: int = N) -> dict[str, Any]:
    """Return the recorded row of a kernel at a size."""
    found, = data.readings("closing").find(kernel=name, N=n)
    return found


def wavefronts_per_k(kernel: str) -> int:
    """Return how many wavefronts a warp of a kernel with tiles of 128 × 128 needs for each k, loads only.

    >>> wavefronts_per_k("sgemm_2d_tile")
    16
    """
    return _per_k(counted(kernel))


def wavefronts_of(kernel: str) -> int:
    """Return the same of a reader's kernel, as CUDA text."""
    return _per_k(launch(UserKernel.from_source(kernel)))


def _per_k(result):
    warps = result.block[0] * result.block[1] * result.grid[0] * result.grid[1] // WARP
    return round(result.count("wavefronts", "load") / (warps * DEPTH))


def path(name: str) -> LoopPath:
    """Return the shortest way through a step along K in the machine code, with as many global loads as the simulator counted."""
    kernel, given = kernel_of(name)
    loads = counted(name).count("requests") * WARP / (COUNTED**2 * DEPTH)
    return shortest_path(kernel, loads, **given)


@cache
def cycles(name: str) -> Cycles:
    """Return what each part needs for a multiply-add of a warp, in cycles of one scheduler, and what was recorded at N = 4096."""
    kernel, given = kernel_of(name)
    found, h200 = row(name), device("H200")
    recorded = found["median_s"] * 1e6 * found["clock_mhz"] * h200.sms * SCHEDULERS / (N**3 / WARP)
    issue = path(name).per_multiply_add if name != STREAM else _unrolled(kernel, given)
    return Cycles(issue, SCHEDULERS * per_multiply_add(counted(name)), kernel_reads(kernel, **given).step.per_multiply_add, recorded)


def _unrolled(kernel, given):
    """Return the instructions per multiply-add of a loop that is a whole step along K."""
    loop = inner_loop(kernel, arch="sm_90", **given).loop
    return loop.counts["instructions"] / loop.counts["FFMA"]


def needs(*names: str) -> Table:
    """Return a table of what each part needs for a multiply-add, one row per kernel.

    Parameters
    ----------
    *names
        As in the recording "closing"; default: lesson 08's kernel alone.
    """
    rows = []
    for name in names or ("sgemm_2d_tile",):
        found = cycles(name)
        rows.append((NAMES[name], f"{found.issue:.2f}", f"{found.shared:.2f}", f"{found.registers:.2f}", f"{found.recorded:.2f}"))
    header = ("kernel", "issuing instructions", "shared memory", "reading registers", "recorded")
    made = ".".join(map(str, inner_loop("sgemm_2d_tile").nvrtc_version))
    return Table(header, rows, "Cycles of a scheduler per multiply-add of a warp. The first three: what each part needs at least, from "
                 f"code for sm_90 by NVRTC {made} and from the simulator. The last: N = {N}, {data.readings('closing').label}")


def one_change(*names: str) -> Table:
    """Return a table of texts of which each differs from the one before in one thing; default: the lanes."""
    rows = []
    for name in names or LANES:
        result, found = counted(name), row(name)
        loop = inner_loop(kernel_of(name)[0], arch="sm_90").loop.counts
        reads, turns = kernel_reads(kernel_of(name)[0]).inner, loop["FFMA"] / OUTPUTS
        rows.append((NAMES[name], result.resources.registers, f"{loop['instructions'] / turns:g}", wavefronts_per_k(name),
                     f"{reads.cycles / turns:g}",
                     f"{1e3 * found['median_s']:.2f}", f"{100 * found['ratio']:.0f} %"))
    header = ("kernel", "registers per thread", "instructions per k", "wavefronts per k", "register cycles per k", "ms", "of cuBLAS")
    return Table(header, rows, f"Per warp, for 64 multiply-adds; counted in the simulator and in machine code. Times: N = {N}, "
                 f"{data.readings('closing').label}")


def gained(before: str, after: str, n: int = N) -> float:
    """Return by how many percent one recorded kernel is faster than another, rounded to one decimal."""
    return round(100 * (row(before, n)["median_s"] / row(after, n)["median_s"] - 1), 1)


def register_cycles(kernel: str) -> Table:
    """Return a table of what the machine code of a reader's kernel reads for one k, beside that of the row-by-row text.

    Parameters
    ----------
    kernel
        CUDA text.
    """
    rows = []
    for name, one in (("yours", UserKernel.from_source(kernel)), ("row by row", steps()["fed_in_rows"])):
        reads = kernel_reads(one).inner
        turns = reads.multiply_adds / OUTPUTS
        rows.append((name, *(f"{many / turns:g}" for many in (reads.multiply_adds, reads.even, reads.odd, reads.cycles))))
    return Table(("kernel", "multiply-adds", "even registers read", "odd registers read", "cycles at least"), rows,
                 f"For each k, machine code for sm_90 by NVRTC {'.'.join(map(str, inner_loop('sgemm_2d_tile').nvrtc_version))}")


def registers_alone() -> Table:
    """Return a table of products of numbers in registers alone, in both orders: cycles counted in recorded machine code, and measured."""
    rows = []
    for order, (name, code) in enumerate(zip(("row by row", "there and back"), CODES["outer"], strict=True)):
        reads = operand_reads(machine_code(code)[0])
        measured = MEASURED_CYCLES[8, 8, bool(order)]
        rows.append((name, reads.multiply_adds, reads.cycles, f"{reads.per_multiply_add:.2f}", f"{measured:.2f}"))
    made = machine_code("outer_in_rows")[1]
    return Table(("order", "multiply-adds", "cycles at least", "per multiply-add, at least", "per multiply-add, measured"), rows,
                 f"A loop with 64 products of registers: counted in its machine code by NVRTC {made}, and measured on an H200, November "
                 "2026, in cycles of a scheduler")


def scoreboard() -> Table:
    """Return the lesson's kernels with its two counters, their time at N = 4096, and their share of cuBLAS at two sizes."""
    rows: list[tuple[Any, ...]] = []
    for name in SCORED:
        found = cycles(name)
        rows.append((NAMES[name], f"{found.shared:.2f}", f"{found.registers:.2f}", f"{1e3 * row(name)['median_s']:.2f}",
                     *(_share(name, n) for n in (513, N))))
    rows.append(("NVIDIA's library, cuBLAS", "", "", f"{1e3 * row('cuBLAS')['median_s']:.2f}", "100 %", "100 %"))
    header = ("kernel", "shared memory", "reading registers", f"ms, N = {N}", "of cuBLAS, N = 513", f"N = {N}")
    return Table(header, rows, f"Cycles of a scheduler per multiply-add, at least; times {data.readings('closing').label}")


def _share(name, n):
    found = data.readings("closing").find(kernel=name, N=n)
    return f"{100 * found[0]['ratio']:.0f} %" if found else ""
