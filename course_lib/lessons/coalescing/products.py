"""Products whose tiled kernels differ in how they load a tile of B: counters beside recorded times."""

import numpy as np

from course_lib import data, kernels
from course_lib.data import Record
from course_lib.data.documents import LEE_GPU
from course_lib.errors import CourseError
from course_lib.lessons.coalescing import experiments
from course_lib.lessons.coalescing.experiments import product_us
from course_lib.plots import Picture, Table, bars, render, source_listing, style
from course_lib.run import RunResult, run
from course_lib.widgets.compute import evaluate, inputs

N_TIMED, N_COUNTED, T = 4096, 256, 16
SIZES = (256, 512, 1024, 2048, 4096)
PROFILED = (1024, 4096)                                                  # where line 29 was recorded without its unused float
UNCOALESCED, FIRST, LOAD, LAST = "sgemm_uncoalesced", 18, 29, 33         # the lines of its tiles, of B's load, and of its loop
DOWN = "Bs[tx][ty] = k0 + tx < K && b_col < N ? B[(k0 + tx) * ldb + b_col] : 0.0f;"
ALONG = "Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;"
SQUARE = {"sgemm_tiled": {"BM": T, "BN": T, "BK": T}, "sgemm_naive": {"bx": T, "by": T}}


def counted(kernel: str, **more: int) -> RunResult:
    """Run a kernel with tiles of 16 × 16 on 256 × 256 matrices in the simulator."""
    return evaluate(kernel, N_COUNTED, SQUARE.get(kernel, {"TILE": T}) | more, backend="sim")


def recorded_product(kernel: str, N: int = N_TIMED) -> Record:
    """Return a recorded time of a kernel with tiles, or blocks, of 16 × 16."""
    found = data.load("lee").find(kernel, N) or data.load("ladder").find(kernel, N)
    return found[0]


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def line_29_changed() -> str:
    """Return the kernel that reads B down its columns, with its line 29 changed: it loads, and stores, along a row."""
    text = kernels.get(UNCOALESCED).source
    if DOWN not in text:
        raise CourseError(f"{UNCOALESCED}.cu no longer has the load {DOWN!r}: write its new text into course_lib/lessons/coalescing")
    return text.replace(DOWN, ALONG)


def square() -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices that are multiplied in the simulator."""
    A, B, _ = inputs(N_COUNTED, N_COUNTED, N_COUNTED)
    return A, B


def b_line() -> Table:
    """Return a listing of the kernel that reads a tile of B down its columns, with that line marked and without the comment on it."""
    source = "\n".join("" if "Lanes run along" in line else line for line in kernels.get(UNCOALESCED).source.splitlines())
    return source_listing(source, {}, columns=(), first=FIRST, last=LAST, caption=f"{UNCOALESCED}.cu", mark=(LOAD,))


LADDER = (("naive", "naive"), ("tiled, B read down its columns", "down"), ("the same, line 29 changed", "along"),
          ("tiled, as in lesson 04", "tiled"))
TRANSPOSED = ("the slides' kernel: tile of B transposed, no unused float", "along, transposed")


def product_ms(variant: str) -> float:
    """Return the recorded time of a product at N = 4096 in milliseconds."""
    return product_us(variant, N_TIMED) / 1e3


def library_ms() -> float:
    """Return the recorded time of cuBLAS at N = 4096 in milliseconds."""
    return 1e3 * data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds


def line_29_ms() -> float:
    """Return the recorded time, in tenths of a millisecond, of the kernel that reads B down its columns once its line 29 is changed."""
    return round(product_ms("along"), 1)


@style.styled
def line_29_chart() -> Picture:
    """Draw the recorded times of the products with tiles of 16 × 16, from the naive kernel to the tiled one."""
    times = {name: product_ms(variant) for name, variant in LADDER}
    ax = bars(times, unit=f"ms at N = {N_TIMED}, {experiments.label().replace('Recorded', 'recorded')}")
    for bar, (name, _) in zip(ax.patches, LADDER, strict=True):
        bar.set_facecolor(style.VERMILION if name == LADDER[1][0] else style.BLUE if name == LADDER[2][0] else style.GREY)
    ax.set_title("What one line is worth")
    return render(ax, "Bars of milliseconds. " + "; ".join(f"{name}: {ms:.1f}" for name, ms in times.items()) + ".")


def scoreboard() -> Table:
    """Return the ladder so far: sectors per multiply-add, time, and speed in percent of the library's."""
    simulated = {"naive": counted("sgemm_naive"), "down": counted(UNCOALESCED), "along": run(line_29_changed(), *square(), backend="sim"),
                 "tiled": counted("sgemm_tiled"), TRANSPOSED[1]: counted("sgemm_coalesced")}
    ladder = (*LADDER[:3], TRANSPOSED, *LADDER[3:])
    rows = [(name, f"{simulated[variant].count('sectors') / N_COUNTED**3:.4f}", f"{product_ms(variant):.1f}",
             f"{library_ms() / product_ms(variant):.1%}") for name, variant in ladder]
    rows.append(("NVIDIA's library, cuBLAS", "", f"{library_ms():.1f}", "100.0%"))
    header = ("kernel, blocks of 16 × 16", "sectors per multiply-add, simulated", "ms", "speed, % of cuBLAS")
    how = data.spread([*(experiments.product(variant, N_TIMED) for _, variant in ladder), recorded_product("cuBLAS")])
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices. {experiments.label()}; cuBLAS {label()}; {how}. "
                               f"Sectors: {N_COUNTED} × {N_COUNTED}; at 1024 × 1024 a profiler counted as many per multiply-add")


def slides() -> Table:
    """Return the times on Lee's slides beside ours, without and with an unused float per row of B's tile."""
    tiling, coalescing = LEE_GPU.column("Tiling"), LEE_GPU.column("Coalescing")
    ours = ("sgemm_coalesced", UNCOALESCED, "sgemm_padded")
    rows = [(n, f"{tiling[n]:.2f}", f"{coalescing[n]:.2f}", f"{product_us('down, unpadded', n) / 1e3:.3g}" if n in PROFILED else "",
             *(f"{1e3 * recorded_product(kernel, n).seconds:.3g}" for kernel in ours)) for n in SIZES]
    header = ("N", "slides: Tiling, s", "slides: Coalescing, s", "line 29, ms", "the slides' repair, ms",
              "line 29, unused float, ms", "the slides' repair, unused float, ms")
    return Table(header, rows, f"Slides: GTX 690. Kernels with tiles of 16 × 16: {label()}; "
                               f"line 29 without an unused float: {data.readings('coalescing').date}, at two sizes only")
