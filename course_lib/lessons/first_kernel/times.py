"""What the first two kernels take: recorded times, by the shape of a warp and by where the rows begin."""

from typing import Any

from course_lib import data
from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, warp_in_c
from course_lib.plots import Table

N_TIMED = 4096
THREADS = 256                                 # of each block
FLOATS = SECTOR_BYTES // 4                    # of a sector
LINE = 32                                     # floats of a line of the GPU's caches, 128 bytes
PADDING, PADDINGS = 8, (1024, 64, 32, 16, 8, 4, 1)      # unused floats after each row: of the picture, and of the table
SIZES = (256, 512, 1024, 2048, 4096)
CPU, INITIAL = (0.06, 0.64, 7.17, 156.19, 1311.08), (0.13, 0.13, 0.19, 0.45, 3.60)       # Lee's slides: one CPU thread; a GTX 690


def seconds(kernel: str, size: int = N_TIMED) -> float:
    """Return the recorded time of the naive or the swapped kernel in blocks of 16 × 16, or of cuBLAS."""
    return data.load("ladder").find(KERNELS.get(kernel, kernel), size)[0].seconds


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def sectors_of(high: int) -> int:
    """Return the sectors per step of a warp that covers so many rows of C.

    >>> sectors_of(2), sectors_of(16)
    (4, 17)
    """
    return high + max(1, WARP // high // FLOATS)


def lines_of(high: int) -> int:
    """Return the lines of 128 bytes that a warp touches per step: one for each of its rows of A, and one of B.

    >>> lines_of(2), lines_of(16)
    (3, 17)
    """
    return high + 1


def padded(kernel: str, after_a: int = 0, after_b: int = 0, bx: int = 16) -> dict[str, Any]:
    """Return the recorded time of the naive or the swapped kernel with so many unused floats after each row of A and of B."""
    row, = data.readings("padded_rows").find(kernel=KERNELS[kernel], bx=bx, by=THREADS // bx, after_A=after_a, after_B=after_b)
    return row


def milliseconds(kernel: str, after_a: int = 0, after_b: int = 0, bx: int = 16) -> str:
    """Return a recorded time in milliseconds, to one decimal.

    >>> milliseconds("naive"), milliseconds("naive", bx=32)
    ('25.4', '23.9')
    """
    return f"{1e3 * padded(kernel, after_a, after_b, bx)['median_s']:.1f}"


def how_padded() -> str:
    """Say where and when the times with padded rows were recorded, and how sure they are."""
    found = data.readings("padded_rows")
    return f"{found.label}, {data.spread(found.rows)}"


def times_as_long(kernel: str, bx: int) -> float:
    """Return how many times as long as *col from x* in blocks of 16 × 16 a kernel takes with this bx, at N = 4096.

    >>> round(times_as_long("naive", bx=8), 2), round(times_as_long("swapped", bx=16), 1)
    (1.63, 5.6)
    """
    return padded(kernel, bx=bx)["median_s"] / padded("naive")["median_s"]


def shape_costs() -> float:
    """Return how many times as long *col from x* takes with warps of four rows and eight columns as with two and 16, to two decimals.

    >>> shape_costs()
    1.63
    """
    return round(times_as_long("naive", bx=8), 2)


def positions(padding: int) -> int:
    """Return at how many positions in a line of the cache the 16 numbers of A lie that a request of *row from x* asks for.

    >>> [positions(padding) for padding in (0, 1, 4, 8, 16, 32)]
    [1, 16, 8, 4, 2, 1]
    """
    return len({row * (N_TIMED + padding) % LINE for row in range(16)})


def padded_rows() -> Table:
    """Return what *row from x* took with unused floats after each row of A, and of B."""
    cases = {"none": (0, 0)} | {f"{pad}, after rows of A": (pad, 0) for pad in PADDINGS} | {f"{PADDING}, after rows of B": (0, PADDING)}
    rows = [(name, positions(pads[0]), milliseconds("swapped", *pads)) for name, pads in cases.items()]
    header = ("unused floats", "positions", "ms")
    return Table(header, rows, f"row from x, {N_TIMED} × {N_TIMED} matrices, blocks of 16 × 16", note=how_padded())


def scoreboard() -> Table:
    """Return the first rungs of the ladder: lines per step, time, and speed in percent of the library's."""
    library = seconds("cuBLAS")
    rows = [(f"{SAID[name]}, blocks of 16 × 16", f"{lines_of(warp_in_c(name, 16, 16)[0])}", f"{1e3 * seconds(name):.1f}",
             f"{library / seconds(name):.1%}") for name in reversed(KERNELS)]
    rows.append(("NVIDIA's library, cuBLAS", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "lines per step", "ms", "speed, % of cuBLAS")
    how = data.spread(data.load("ladder").find(kernel, N_TIMED)[0] for kernel in (*KERNELS.values(), "cuBLAS"))
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices", note=f"times {label()}, {how}")


def slides() -> Table:
    """Return the slides' times of one CPU thread and of their first kernel, and ours on an H200."""
    rows = [(size, f"{cpu:.2f}", f"{gpu:.2f}", f"{cpu / gpu:.1f}", f"{1e3 * seconds('naive', size):#.3g}")
            for size, cpu, gpu in zip(SIZES, CPU, INITIAL, strict=True)]
    header = ("N", "slides: CPU, one thread", "slides: GPU, first kernel", "CPU / GPU", "H200: col from x, ms")
    return Table(header, rows, f"Slides: GTX 690, no unit. H200: {label()}")
