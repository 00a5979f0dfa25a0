"""Products whose tiled kernels differ in how they load a tile of B: counters beside recorded times."""

import numpy as np

from course_lib import data, kernels
from course_lib.arch import SECTOR_BYTES
from course_lib.data import Record
from course_lib.data.documents import LEE_GPU
from course_lib.errors import CourseError
from course_lib.model import l1_wavefronts
from course_lib.plots import Table, requests, source_listing
from course_lib.run import LaunchResult, RunResult, one_block
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED, T = 4096, 256, 16
LINE_BYTES = 128
SIZES = (256, 512, 1024, 2048, 4096)
UNCOALESCED, FIRST, LAST = "sgemm_uncoalesced", 18, 33         # the lines of its tiles and its loop
SQUARE = {"sgemm_tiled": {"BM": T, "BN": T, "BK": T}, "sgemm_naive": {"bx": T, "by": T}}


def counted(kernel: str, **more: int) -> RunResult:
    """Run a kernel with tiles of 16 × 16 on 256 × 256 matrices in the simulator."""
    return evaluate(kernel, N_COUNTED, SQUARE.get(kernel, {"TILE": T}) | more, backend="sim")


def recorded(kernel: str, N: int = N_TIMED) -> Record:
    """Return a recorded time of a kernel with tiles, or blocks, of 16 × 16."""
    found = data.load("lee").find(kernel, N) or data.load("ladder").find(kernel, N)
    return found[0]


def ms(kernel: str, N: int = N_TIMED) -> str:
    """Write a recorded time in milliseconds."""
    return f"{1e3 * recorded(kernel, N).median_s:.1f}"


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def b_line() -> object:
    """Return a listing of the kernel that reads a tile of B down its columns."""
    return source_listing(kernels.get(UNCOALESCED).source, {}, columns=(), first=FIRST, last=LAST, caption=f"{UNCOALESCED}.cu")


def b_line_counted() -> object:
    """Return the same listing with the requests and sectors that the simulator counts on each line."""
    result = counted(UNCOALESCED)
    return source_listing(result.kernel.source, result.lines, columns=("global requests", "sectors / request"), first=25, last=30,
                          caption=f"{UNCOALESCED}.cu, 256 × 256 matrices, simulated")


def beside_uncoalesced(launch: LaunchResult, name: str = "your kernel") -> Table:
    """Return a table of what a launch on 256 × 256 matrices loads, beside the kernel that reads B down its columns.

    Raises
    ------
    CourseError
        When the launch has no counters.
    """
    if launch.counters is None:
        raise CourseError("this launch has no counters: launch the kernel on 256 × 256 matrices, which the simulator runs beside a GPU")
    first = counted(UNCOALESCED)
    loads = [(f"load {what}", f"{first.count(what):,}", f"{launch.count(what):,}") for what in ("requests", "sectors")]
    per_request = ("sectors per request", f"{first.sectors_per_request():g}", f"{launch.sectors_per_request():g}")
    return Table(("", UNCOALESCED, name), [*loads, per_request], f"{N_COUNTED} × {N_COUNTED} matrices, simulated")


def wavefronts(result: RunResult) -> int:
    """Return the wavefronts of shared memory, loads and stores."""
    return sum(result.count("wavefronts", kind) for kind in ("load", "store"))


RUNGS = (("1", UNCOALESCED, "down its columns", "no", "yes"), ("2", "sgemm_tiled", "along its rows", "no", "no"),
         ("3", "sgemm_padded", "along its rows", "yes", "yes"), ("4", "sgemm_coalesced", "along its rows", "yes", "no"))


def requests_for_b(kernel: str) -> tuple[float, float, float]:
    """Return sectors, lines and modelled L1 wavefronts per load request for B, on average over those of one block."""
    found = [record.addresses[record.addresses >= 0] for record in requests(one_block(counted(kernel)), array="B", load=True)]
    each = [(np.unique(a // SECTOR_BYTES).size, np.unique(a // LINE_BYTES).size, l1_wavefronts(a)) for a in found]
    return tuple(np.mean(each, axis=0))


def between() -> Table:
    """Return four kernels that differ in how B is loaded and in how its tile lies in shared memory: what is counted, and the times."""
    rows = []
    for name, kernel, *how in RUNGS:
        sectors, lines, _ = requests_for_b(kernel)
        rows.append((name, *how, f"{sectors:g}", f"{lines:g}", f"{wavefronts(counted(kernel)):,}", ms(kernel)))
    header = ("kernel", "B is read", "tile transposed", "padded", "sectors", "lines", "wavefronts", "ms")
    return Table(header, rows, "Tiles of 16 × 16. Sectors and lines per request for B, wavefronts of shared memory in all: "
                               f"N = {N_COUNTED}, simulated. Times: N = {N_TIMED}, {label()}")


def scoreboard() -> Table:
    """Return the ladder so far: sectors per multiply-add, time, and speed in percent of the library's."""
    library = data.load("ladder").find("cuBLAS", N_TIMED)[0].median_s
    rungs = (("naive", "sgemm_naive"), ("tiled, B read down its columns", UNCOALESCED), ("tiled, B read along its rows", "sgemm_tiled"))
    rows = [(name, f"{counted(kernel).count('sectors') / N_COUNTED**3:.4f}", ms(kernel), f"{library / recorded(kernel).median_s:.1%}")
            for name, kernel in rungs]
    rows.append(("NVIDIA's library, cuBLAS", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel, blocks of 16 × 16", "sectors per multiply-add, simulated", "ms", "speed, % of cuBLAS")
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, times {label()}; sectors counted for {N_COUNTED} × {N_COUNTED}")


def slides() -> Table:
    """Return the times on Lee's slides beside ours."""
    tiling, coalescing = LEE_GPU.column("Tiling"), LEE_GPU.column("Coalescing")
    ours = (UNCOALESCED, "sgemm_coalesced", "sgemm_padded")
    rows = [(n, f"{tiling[n]:.2f}", f"{coalescing[n]:.2f}", *(f"{1e3 * recorded(kernel, n).median_s:.3g}" for kernel in ours))
            for n in SIZES]
    header = ("N", "slides: Tiling, s", "slides: Coalescing, s", "kernel 1, ms", "kernel 4, ms", "kernel 3, ms")
    return Table(header, rows, f"Slides: GTX 690. Kernels of the lesson: {label()}")
