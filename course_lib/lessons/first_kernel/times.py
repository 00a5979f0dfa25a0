"""What the first two kernels take: recorded times, and what they ask the caches for."""

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.lessons.first_kernel.counts import KERNELS, SAID, N, counted
from course_lib.plots import Table, bars, render
from course_lib.plots.picture import Picture

N_TIMED, N_PROFILED = 4096, 1024
GHZ = DEFAULT_DEVICE.clock_mhz / 1e3         # the highest clock: most recordings hold none
SIZES = (256, 512, 1024, 2048, 4096)
CPU, INITIAL = (0.06, 0.64, 7.17, 156.19, 1311.08), (0.13, 0.13, 0.19, 0.45, 3.60)       # Lee's slides: one CPU thread; a GTX 690


def seconds(kernel: str, size: int = N_TIMED) -> float:
    """Return the recorded time of the naive or the swapped kernel in blocks of 16 × 16, or of cuBLAS."""
    return data.load("ladder").find(KERNELS.get(kernel, kernel), size)[0].seconds


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def cycles_per_step(taken: float, size: int = N_TIMED, clock_ghz: float = GHZ) -> float:
    """Return the clock cycles of a multiprocessor per warp and step of the loop: time × clock × multiprocessors × 32 / N³.

    The clock is the H200's highest where none was recorded; all multiprocessors are taken to be busy all the time.
    """
    return taken * clock_ghz * 1e9 * DEFAULT_DEVICE.sms * WARP / size**3


def traffic() -> Table:
    """Return how many sectors both kernels asked of the L1, and the L1 of the L2, counted by a profiler."""
    found = data.readings("traffic")
    rows = [(SAID[name], *(f"{row[what] / 1e6:,.1f}" for what in ("l1_sectors_read", "l2_sectors_from_l1")))
            for name, kernel in KERNELS.items() for row in found.find(kernel=kernel, N=N_PROFILED)]
    header = ("kernel", "sectors asked of the L1, millions", "sectors that the L1 asked of the L2, millions")
    return Table(header, rows, f"{N_PROFILED} × {N_PROFILED} matrices, blocks of 16 × 16, {found.label}")


def slower() -> float:
    """Return how many times as long *row from x* took as *col from x* at N = 4096, in blocks of 16 × 16, to one decimal.

    >>> slower()
    5.6
    """
    return round(seconds("swapped") / seconds("naive"), 1)


def time_bars() -> Picture:
    """Draw the recorded times of both kernels and of NVIDIA's library as bars."""
    found = {said: round(1e3 * seconds(kernel), 1) for kernel, said in (*SAID.items(), ("cuBLAS", "cuBLAS"))}
    alt = ", ".join(f"{said} {ms} ms" for said, ms in found.items())
    return render(bars(found, unit=f"ms at N = {N_TIMED}, {label()}", digits=4), f"Bars of three recorded times: {alt}.")


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
