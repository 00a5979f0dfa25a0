"""Does the time follow the instructions? Recorded times beside both counts, and pairs of kernels of which only one count differs."""

from functools import cache

from course_lib import data
from course_lib.arch import device
from course_lib.data import Record
from course_lib.lessons.unrolling.counts import FACTORS, KERNEL, TILE, step, two_decimals
from course_lib.plots import Table
from course_lib.toolchain import whole_step
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED, PADDED, TILED, SQUARE = 4096, 256, "sgemm_padded", "sgemm_tiled", {"BM": TILE, "BN": TILE, "BK": TILE}
ISSUED_PER_CYCLE, SERVED_PER_CYCLE = 4, 1         # instructions of warps, and wavefronts of shared memory, of an SM; CC 9.0


def recorded(factor: int, N: int = N_TIMED) -> Record:
    """Return the recorded time of the course's kernel with tiles of 16 × 16."""
    return data.load("unrolling").find(KERNEL, N, parameters={"TILE": TILE, "UNROLL": factor})[0]


def recorded_ms(factor: int) -> float:
    """Return the recorded milliseconds of `recorded`, with one decimal."""
    return round(1e3 * recorded(factor).median_s, 1)


def tiled() -> Record:
    """Return the recorded time of lesson 04's kernel, which has no pragma, with tiles of 16 × 16."""
    return data.load("unrolling").find(TILED, N_TIMED, parameters=SQUARE)[0]


def padded(pad: int, N: int = N_TIMED) -> Record:
    """Return the recorded time of lesson 06's kernel with tiles of 16 × 16."""
    return data.load("padding").find(PADDED, N, parameters={"TILE": TILE, "PAD": pad})[0]


@cache
def wavefronts(kernel: str, **parameters: int) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores, counted by the simulator."""
    found = evaluate(kernel, N_COUNTED, parameters, backend="sim")
    return 32 * sum(found.count("wavefronts", kind) for kind in ("load", "store")) / N_COUNTED**3


def scoreboard() -> Table:
    """Return, without a pragma and for every UNROLL, both counts, the recorded time and the speed in percent of the library's."""
    library = data.load("ladder").find("cuBLAS", N_TIMED)[0].median_s
    tried = [("no pragma (lesson 04)", whole_step(TILED, **SQUARE), wavefronts(TILED, **SQUARE), tiled().median_s)]
    tried += [(f"UNROLL = {factor}", step(factor), wavefronts(KERNEL, TILE=TILE, UNROLL=factor), recorded(factor).median_s)
              for factor in FACTORS]
    rows = [(name, two_decimals(taken.per_multiply_add), f"{waves:g}", f"{1e3 * seconds:.1f}", f"{library / seconds:.1%}")
            for name, taken, waves, seconds in tried]
    rows.append(("NVIDIA's library, cuBLAS", "", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "instructions per multiply-add", "wavefronts per multiply-add", "ms", "speed, % of cuBLAS")
    caption = (f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, times {data.load('unrolling').label}; instructions counted in "
               f"machine code, wavefronts simulated for {N_COUNTED} × {N_COUNTED}")
    return Table(header, rows, caption)


def one_change() -> Table:
    """Return pairs of recorded kernels of which only one count differs: instructions, or wavefronts."""
    rows = []
    for kernel, name, before, after in ((KERNEL, "UNROLL", 1, 2), (KERNEL, "UNROLL", 4, 16), (PADDED, "PAD", 4, 8)):
        steps = [two_decimals(whole_step(kernel, TILE=TILE, **{name: value}).per_multiply_add) for value in (before, after)]
        waves = [f"{wavefronts(kernel, TILE=TILE, **{name: value}):g}" for value in (before, after)]
        times = [(recorded if name == "UNROLL" else padded)(value).median_s for value in (before, after)]
        rows.append((f"{name} {before} → {after}", *(f"{a}, the same" if a == b else f"{a} → {b}" for a, b in (steps, waves)),
                     f"{1e3 * times[0]:.1f} → {1e3 * times[1]:.1f}", f"{100 * (times[1] / times[0] - 1):+.0f} %"))
    header = ("what changes", "instructions", "wavefronts", "ms", "time")
    caption = f"Counts per multiply-add of a warp. {N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, times {data.load('unrolling').label}"
    return Table(header, rows, caption)


def least(per_multiply_add: float, per_cycle: int) -> float:
    """Return the seconds that the H200's multiprocessors need at least for so many operations per multiply-add of a warp."""
    gpu = device("H200")
    return N_TIMED**3 / 32 / gpu.sms * per_multiply_add / per_cycle / (1e6 * gpu.clock_mhz)


def limits() -> Table:
    """Return the recorded time beside the least that issuing and shared memory take for their shares, modelled."""
    rows = []
    for factor in FACTORS:
        waves = wavefronts(KERNEL, TILE=TILE, UNROLL=factor)
        parts = (least(step(factor).per_multiply_add, ISSUED_PER_CYCLE), least(waves, SERVED_PER_CYCLE))
        rows.append((f"UNROLL = {factor}", *(f"{1e3 * seconds:.1f}" for seconds in (recorded(factor).median_s, *parts))))
    header = (KERNEL, "recorded, ms", "issuing instructions alone, ms", "shared memory alone, ms")
    caption = f"{N_TIMED} × {N_TIMED} matrices: {data.load('unrolling').label}, and the least that each part needs, modelled for H200"
    return Table(header, rows, caption)
