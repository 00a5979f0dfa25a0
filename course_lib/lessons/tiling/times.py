"""What the kernels of lesson 04 take: recorded times beside counters, and beside what the model says they take at least."""

from course_lib import data
from course_lib.data import Record
from course_lib.lessons.tiling.counts import naive, tiled
from course_lib.plots import Table
from course_lib.run import bound_of
from course_lib.widgets.compute import evaluate

N_TIMED, N_MODELLED, N_COUNTED = 4096, 1024, 256
SIZES = (256, 512, 1024, 2048, 4096)
INITIAL, TILING = (0.13, 0.13, 0.19, 0.45, 3.60), (0.11, 0.11, 0.15, 0.41, 3.50)          # Lee's slides, seconds on a GTX 690
TERMS = {"shared": "shared memory", "issue": "issuing instructions", "fma": "multiply-adds"}


def recorded_product(kernel: str, T: int, N: int) -> Record:
    """Return a recorded time of a kernel with tiles, or blocks, of T × T."""
    both = data.load("lee").find(kernel, N) if T == 16 else ()
    return (both or data.load("ladder").find(kernel, N))[0]


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


def scoreboard() -> Table:
    """Return the ladder so far: sectors per multiply-add, time, and speed in percent of the library's."""
    ours = (("naive, blocks of 16 × 16", naive(), recorded_product("sgemm_naive", 16, N_TIMED)),
            ("tiled, 16 × 16", tiled(16, 16, 16), recorded_product("sgemm_tiled", 16, N_TIMED)),
            ("tiled, 32 × 32", tiled(32, 32, 32), recorded_product("sgemm_tiled", 32, N_TIMED)))
    library = recorded_product("cuBLAS", 0, N_TIMED)
    found = [(name, f"{counted.count('sectors') / N_COUNTED**3:.4f}", record) for name, counted, record in ours]
    rows = [(name, sectors, f"{1e3 * record.seconds:.1f}", f"{library.seconds / record.seconds:.1%}")
            for name, sectors, record in (*found, ("NVIDIA's library, cuBLAS", "", library))]
    header = ("kernel", "sectors per multiply-add, simulated", "ms", "speed, % of cuBLAS")
    how = data.spread((*(record for *_, record in ours), library))
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, times {label()}, {how}; sectors counted for {N_COUNTED} × {N_COUNTED}")


def limits() -> Table:
    """Return, for both tiles, the recorded time beside the least that each part of the GPU needs for its share, modelled."""
    rows = []
    for T in (16, 32):
        least = bound_of(evaluate("sgemm_tiled", N_MODELLED, {"BM": T, "BN": T, "BK": T}, backend="sim")).terms
        taken = recorded_product("sgemm_tiled", T, N_MODELLED).seconds
        rows.append((f"tiled, {T} × {T}", *(f"{1e6 * seconds:.0f}" for seconds in (taken, *(least[term] for term in TERMS)))))
    header = ("kernel", "recorded, µs", *(f"{name} alone, µs" for name in TERMS.values()))
    return Table(header, rows, f"{N_MODELLED} × {N_MODELLED} matrices: {label()}, and the least that each part needs, modelled for H200")


def traffic() -> Table:
    """Return how far the requests of both kernels came: sectors asked of L1 and of L2, and bytes from DRAM, counted by ncu."""
    counted = data.readings("traffic")
    rows = [(name, *(f"{row[what] / 1e6:,.1f}" for what in ("l1_sectors_read", "l2_sectors_from_l1", "dram_bytes_read")))
            for name, kernel in (("naive, blocks of 16 × 16", "sgemm_naive"), ("tiled, 32 × 32", "sgemm_tiled"))
            for row in counted.find(kernel=kernel, N=N_MODELLED)]
    header = ("kernel", "sectors asked of L1, millions", "sectors asked of L2, millions", "bytes from DRAM, millions")
    return Table(header, rows, f"{N_MODELLED} × {N_MODELLED} matrices, {counted.label}")


def slides() -> Table:
    """Return what the slides measured on a GTX 690 beside what was recorded here: how many times faster tiling makes the kernel."""
    rows = [(n, f"{before:.2f}", f"{after:.2f}", f"{before / after:.2f}", gain("sgemm_tiled", n), gain("sgemm_uncoalesced", n))
            for n, before, after in zip(SIZES, INITIAL, TILING, strict=True)]
    header = ("N", "slides: Initial, s", "slides: Tiling, s", "slides: faster", "H200: faster", "H200: faster, B down its columns")
    return Table(header, rows, f"Slides: GTX 690. H200: {label()}")


def gain(kernel: str, n: int) -> str:
    """Return how many times faster a kernel with tiles of 16 × 16 was than the naive one in blocks of 16 × 16."""
    return f"{recorded_product('sgemm_naive', 16, n).seconds / recorded_product(kernel, 16, n).seconds:.2f}"
