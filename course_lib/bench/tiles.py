"""Which parameters a search for the fastest kernel tries: a list from powers of two, which rules and the multiprocessor's room thin out.

The list of the kernels that share out steps of tiles is built here, about a hundred combinations for a product (`combinations`):

- a thread computes 4 × 4, 8 × 4, 8 × 8 or 16 × 8 elements (`THREAD_TILES`), or a warp 32 × 16 to 64 × 32 by matrix instructions, and a
  block has 2, 4 or 8 warps in a nearly square arrangement (`WARPS`);
- a step is 8, 16 or 32 deep with 3 or 4 stages, deeper for small tiles, whose steps are short (`DEPTHS`);
- RESIDENT is what shared memory, registers and warps allow, at most 8;
- WIDE is the widest copy that the lengths of the rows allow;
- of the numbers of blocks in `model.stream_k.block_counts` the `COUNTS` stay that give the busiest multiprocessor the least to do.

Other kernels are tried with their tuned tiles (`bench.tuned`), or else at all positions of their sliders.
"""

from collections.abc import Iterator, Mapping

from course_lib.arch import WARP, Device
from course_lib.bench.least import SHARING
from course_lib.bench.tuned import TUNED
from course_lib.kernels import get
from course_lib.kernels.stages import widest
from course_lib.model.bound import busiest
from course_lib.model.stream_k import block_counts, sharing

THREAD_TILES = {(4, 4): (16, 32), (8, 4): (32, 32), (8, 8): (64, 32), (16, 8): (64, 64)}     # rows and columns of C -> those of its warp
MATRIX_WARPS = ((32, 16), (32, 32), (64, 32))
WARPS = ((1, 2), (2, 1), (2, 2), (2, 4), (4, 2))         # of a block, along the rows of C and along its columns
DEPTHS = {"float32": ((8, 4), (16, 3), (16, 4), (32, 3)), "float64": ((16, 4), (32, 3))}        # BK, STAGES
SHORT = 64 * 64            # elements of a tile up to which steps are 16 and 32 deep, beyond which they are 8 and 16
COUNTS, MOST_RESIDENT = 2, 8
OTHER_REGISTERS = 40       # of a thread, beside its sums and two steps' operands: addresses, counters


def tiles(kernel: str, on: Device, operands: Mapping[str, int] | None = None) -> Iterator[dict[str, int]]:
    """Yield the tiles of a kernel that shares out steps: everything that does not depend on the sizes of a product.

    Parameters
    ----------
    operands
        TRANSA and TRANSB, which change the rows of tiles in shared memory; default neither is transposed.

    >>> from course_lib.arch import DEFAULT_DEVICE
    >>> [len(list(tiles(name, DEFAULT_DEVICE))) for name in SHARING]
    [60, 42]
    """
    described = get(kernel)
    for tile in _single() if described.dtype == "float32" else _double():
        resident = _resident(kernel, tile | dict(operands or {}), on)
        if resident and not described.problems(**tile, RESIDENT=resident):
            yield tile | {"RESIDENT": resident}


def _depths(dtype: str, elements: int) -> Iterator[dict[str, int]]:
    for deep, stages in DEPTHS[dtype]:
        if dtype == "float64" or (deep >= 16 if elements <= SHORT else deep <= 16):
            yield {"BK": deep, "STAGES": stages}


def _single() -> Iterator[dict[str, int]]:
    for (TM, TN), (WM, WN) in THREAD_TILES.items():
        for rows, cols in WARPS:
            for depth in _depths("float32", rows * WM * cols * WN):
                yield {"BM": rows * WM, "BN": cols * WN, "WM": WM, "WN": WN, "TM": TM, "TN": TN, **depth}


def _double() -> Iterator[dict[str, int]]:
    for WM, WN in MATRIX_WARPS:
        for rows, cols in WARPS:
            for depth in _depths("float64", rows * WM * cols * WN):
                for slices in (1, 2):
                    yield {"BM": rows * WM, "BN": cols * WN, "WM": WM, "WN": WN, "SLICES": slices, **depth}


def _resident(kernel: str, tile: Mapping[str, int], on: Device) -> int:
    """Return how many blocks a multiprocessor can hold: by shared memory, by the registers that sums and operands need, by warps."""
    described = get(kernel)
    if described.problems(**tile):
        return 0
    threads = described.block(**tile)[0]
    if described.dtype == "float32":
        registers = tile["TM"] * tile["TN"] + 2 * (tile["TM"] + tile["TN"]) + OTHER_REGISTERS
    else:
        registers = (2 * tile["WM"] * tile["WN"] + 4 * (tile["WM"] + 2 * tile["WN"])) // WARP + OTHER_REGISTERS
    limits = on.limits
    if registers > limits.registers_per_thread:
        return 0
    shared = described.dynamic_bytes(**tile) + limits.shared_reserved
    return min(limits.shared // shared, limits.registers // (threads * registers), limits.warps // (threads // WARP), MOST_RESIDENT)


def combinations(kernel: str, sizes: tuple[int, int, int], on: Device,
                 transposed: tuple[bool, bool] = (False, False)) -> list[dict[str, int]]:
    """Return the parameters that are tried for a product.

    Parameters
    ----------
    kernel
        A name of the catalog.
    sizes
        M, N and K.
    transposed
        Whether A and B are stored transposed; kernels without TRANSA and TRANSB cannot.

    >>> from course_lib.arch import DEFAULT_DEVICE
    >>> found = combinations("sgemm_stream_k", (513, 512, 511), DEFAULT_DEVICE)
    >>> len(found) <= 120, {p["WIDE"] for p in found}
    (True, {1})
    """
    described = get(kernel)
    operands = dict(zip(("TRANSA", "TRANSB"), map(int, transposed), strict=True))
    if kernel not in SHARING:
        known = {p.name for p in described.parameters}
        fixed = {name: value for name, value in operands.items() if name in known or value}
        found = [{**p, **fixed} for p in TUNED.get(kernel, described.positions())]
    else:
        fixed = {**operands, "WIDE": widest(described, sizes, transposed)}
        found = [{**tile, **fixed, "blocks": count} for tile in tiles(kernel, on, operands) for count in _counts(tile, sizes, on)]
    return [p for p in found if not described.problems(**p) and described.sizes_of(*sizes, described.check(**p)) is None]


def _counts(tile: Mapping[str, int], sizes: tuple[int, int, int], on: Device) -> list[int]:
    """Return the numbers of blocks with which the busiest multiprocessor has the fewest steps, and then the fewest pieces of tiles."""
    shape = tile["BM"], tile["BN"], tile["BK"]

    def load(count):
        shared_out = sharing(*sizes, shape, count)
        return busiest(count, on.sms) * shared_out.most, shared_out.pieces
    return sorted(block_counts(*sizes, shape, tile["RESIDENT"], on.sms), key=load)[:COUNTS]
