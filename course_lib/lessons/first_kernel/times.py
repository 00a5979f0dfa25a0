"""What the first two kernels take: recorded times, by the shape of a warp and by where the rows begin."""

from typing import Any

from course_lib import data
from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, N, counted
from course_lib.plots import Table

N_TIMED, N_PROFILED = 4096, 1024
THREADS, HEIGHTS = 256, (1, 2, 4, 8, 16, 32)  # of each block in the table of shapes; rows of C that a warp covers
FLOATS = SECTOR_BYTES // 4                    # of a sector
PADDING = 4                                   # unused floats after each row
SIZES = (256, 512, 1024, 2048, 4096)
CPU, INITIAL = (0.06, 0.64, 7.17, 156.19, 1311.08), (0.13, 0.13, 0.19, 0.45, 3.60)       # Lee's slides: one CPU thread; a GTX 690


def seconds(kernel: str, size: int = N_TIMED) -> float:
    """Return the recorded time of the naive or the swapped kernel in blocks of 16 × 16, or of cuBLAS."""
    return data.load("ladder").find(KERNELS.get(kernel, kernel), size)[0].seconds


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def seconds_by_block(kernel: str, N: int = N_TIMED) -> dict[tuple[int, int], float]:
    """Return the recorded seconds of the naive or the swapped kernel by its block (bx, by).

    >>> round(1e3 * seconds_by_block("naive", 2048)[32, 8], 2)
    2.59
    """
    return {(r.parameters["bx"], r.parameters["by"]): r.seconds for r in data.load("shapes").find(KERNELS[kernel], N)}


def warp_times() -> Table:
    """Return a table of the recorded times of both kernels in the blocks that give their warps the same shapes."""
    rows = []
    for high in HEIGHTS:
        wide = WARP // high
        shape = f"{high} row{'s' * (high > 1)}, {wide} column{'s' * (wide > 1)}".replace(" ", "\u00a0")
        both = (seconds_by_block(kernel)[bx, THREADS // bx] for kernel, bx in (("naive", wide), ("swapped", high)))
        rows.append((shape, high + max(1, wide // FLOATS), *(f"{1e3 * each:.1f}" for each in both)))
    header = ("a warp covers, of C", "sectors per step", *(f"{said}, ms" for said in SAID.values()))
    found = data.load("shapes")
    how = data.spread(found.find(N=N_TIMED))
    return Table(header, rows, f"blocks of {THREADS} threads, {N_TIMED} × {N_TIMED} matrices, {found.label}, {how}")


def padded(padding: int, kernel: str = "swapped") -> dict[str, Any]:
    """Return the recorded time of the naive or the swapped kernel in blocks of 16 × 16, with unused floats after each row of A and of B."""
    row, = data.readings("coalescing").find(what="product", N=N_TIMED, variant=kernel, TILE=16, padding=padding)
    return row


def padded_ms() -> float:
    """Return the milliseconds, to one decimal, of *row from x* at N = 4096 with four unused floats after each row.

    >>> padded_ms()
    56.0
    """
    return round(1e3 * padded(PADDING)["median_s"], 1)


def padded_rows() -> Table:
    """Return what both kernels touched in a step and took, without and with unused floats after each row of A and of B."""
    found, rows = data.readings("coalescing"), []
    timed = [(kernel, padding) for kernel in ("swapped", "naive") for padding in (0, PADDING)]
    for kernel, padding in timed:
        counted_there, = found.find(what="count", N=N_PROFILED, variant=kernel, TILE=16, padding=padding)
        sectors = counted_there["load_sectors"] * WARP / N_PROFILED**3
        rows.append((SAID[kernel], padding, f"{sectors:g}", f"{1e3 * padded(padding, kernel)['median_s']:.1f}"))
    how = data.spread(padded(padding, kernel) for kernel, padding in timed)
    return Table(("kernel", "unused floats after each row", "sectors per step", "ms"), rows,
                 f"blocks of 16 × 16, {N_TIMED} × {N_TIMED} matrices, {found.label}, {how}; "
                 f"sectors counted by a profiler for {N_PROFILED} × {N_PROFILED}")


def scoreboard() -> Table:
    """Return the first rungs of the ladder: sectors per request, time, and speed in percent of the library's."""
    library = seconds("cuBLAS")
    rows = [(f"{SAID[name]}, blocks of 16 × 16", f"{counted(name).sectors_per_request():g}", f"{1e3 * seconds(name):.1f}",
             f"{library / seconds(name):.1%}") for name in reversed(KERNELS)]
    rows.append(("NVIDIA's library, cuBLAS", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "sectors per load request, simulated", "ms", "speed, % of cuBLAS")
    how = data.spread(data.load("ladder").find(kernel, N_TIMED)[0] for kernel in (*KERNELS.values(), "cuBLAS"))
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, times {label()}, {how}; sectors counted for {N} × {N}")


def slides() -> Table:
    """Return the slides' times of one CPU thread and of their first kernel, and ours on an H200."""
    rows = [(size, f"{cpu:.2f}", f"{gpu:.2f}", f"{cpu / gpu:.1f}", f"{1e3 * seconds('naive', size):#.3g}")
            for size, cpu, gpu in zip(SIZES, CPU, INITIAL, strict=True)]
    header = ("N", "slides: CPU, one thread", "slides: GPU, first kernel", "CPU / GPU", "H200: col from x, ms")
    return Table(header, rows, f"Slides: GTX 690, no unit. H200: {label()}")
