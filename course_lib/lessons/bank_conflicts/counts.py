"""What the accesses to a tile cost: wavefronts counted by the simulator, for transpositions and for the product."""

from math import gcd

from course_lib import data
from course_lib.arch import BANKS, DEFAULT_DEVICE, WARP
from course_lib.plots import Table
from course_lib.run import LaunchResult, RunResult
from course_lib.widgets.compute import evaluate

N, N_PRODUCT, N_TIMED = 256, 128, 4096
PADS = (0, 1, 2, 3, 4, 8, 16)


def transposed(TILE: int, PAD: int | None) -> LaunchResult:
    """Transpose a 256 × 256 matrix in the simulator, with rows of TILE + PAD words, or swizzled where PAD is None."""
    name, parameters = ("transpose_swizzled", {}) if PAD is None else ("transpose", {"PAD": PAD})
    return evaluate(name, N, {"TILE": TILE} | parameters, backend="sim")


def multiplied(TILE: int, PAD: int) -> RunResult:
    """Multiply 128 × 128 matrices in the simulator with the padded kernel."""
    return evaluate("sgemm_padded", N_PRODUCT, {"TILE": TILE, "PAD": PAD}, backend="sim")


def each(result: LaunchResult, kind: str = "load") -> float:
    """Return the wavefronts of one access to shared memory, a load or a store.

    >>> each(transposed(32, 4))
    4.0
    """
    return result.count("wavefronts", kind) / result.count("shared instructions", kind)


def per_multiply_add(result: RunResult, what: str = "wavefronts", kind: str = "load") -> float:
    """Return a counter per multiply-add of a warp, that is of 32 lanes."""
    return WARP * result.count(what, kind) / (result.M * result.N * result.K)


def wavefronts(result: RunResult) -> float:
    """Return the wavefronts of shared memory, loads and stores, per multiply-add of a warp.

    >>> wavefronts(multiplied(16, 4))
    1.6875
    """
    return per_multiply_add(result) + per_multiply_add(result, kind="store")


def least_padding(TILE: int) -> int:
    """Return the smallest padding with which a warp's loads from the tile of a transposition have no conflicts.

    >>> least_padding(32)
    1
    """
    return next(PAD for PAD in range(TILE) if each(transposed(TILE, PAD)) == 1)


def by_padding() -> Table:
    """Return a table of the banks that a column of a 32 × 32 tile lies in, and of the wavefronts that it takes, by padding."""
    rows = [(PAD, 32 + PAD, BANKS // gcd(32 + PAD, BANKS), f"{each(transposed(32, PAD)):g}") for PAD in PADS]
    header = ("PAD", "words per row", "banks that a column lies in", "wavefronts per load, simulated")
    return Table(header, rows, f"transpose, tile of 32 × 32, {N} × {N} matrix")


def padded_or_swizzled() -> Table:
    """Return a table of both remedies for the column, beside none."""
    rows = []
    for PAD in (0, 1, None):
        result = transposed(32, PAD)
        name = "swizzled" if PAD is None else f"PAD = {PAD}"
        rows.append((name, f"{each(result):g}", f"{each(result, 'store'):g}", f"{result.resources.static_shared_bytes:,}",
                     f"{recorded_us(PAD)}"))
    header = ("tile", "wavefronts per load", "per store", "shared bytes per block", "recorded, µs")
    return Table(header, rows, f"Tiles of 32 × 32. Wavefronts simulated, {N} × {N} matrix; time for {N_TIMED} × {N_TIMED}, "
                               f"{data.load('padding').label}")


def recorded_transposition(PAD: int | None) -> data.Record:
    """Return the recorded time of a transposition of a 4096 × 4096 matrix in tiles of 32 × 32."""
    name, parameters = ("transpose_swizzled", {}) if PAD is None else ("transpose", {"PAD": PAD})
    record, = data.load("padding").find(name, N_TIMED, parameters={"TILE": 32, "ROWS": 8} | parameters)
    return record


def recorded_us(PAD: int | None) -> float:
    """Return the recorded time of such a transposition in µs, to a tenth.

    >>> recorded_us(1)
    39.5
    """
    return round(1e6 * recorded_transposition(PAD).seconds, 1)


def least_us(PAD: int) -> float:
    """Return the least µs that shared memory needs for the loads and stores of such a transposition.

    It serves one wavefront per cycle on every multiprocessor, at the highest clock.

    >>> round(least_us(4), 1)
    10.0
    """
    result = transposed(32, PAD)
    fronts = sum(result.count("wavefronts", kind) for kind in ("load", "store")) * (N_TIMED // N)**2
    return fronts / DEFAULT_DEVICE.sms / DEFAULT_DEVICE.clock_mhz
