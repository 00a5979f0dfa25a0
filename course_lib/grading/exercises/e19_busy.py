"""Exercise 19, "Ragged groups": many products of different sizes in one launch, shared out so that no block has much more to do than another.

A block has 16 × 16 threads and computes tiles of 16 × 16 elements in k-steps of 16. The input of the gates has 12 tiles of 2 k-steps, one of
40, 2 of 10 and 9 of 1: 24 + 40 + 20 + 9 = 93 k-steps for 12 blocks, 7.75 each. The starter deals out whole tiles in turn. Block 0 gets one of
the first 12 and, as the 13th, the one with 40: 42 k-steps, 5.4194 times the mean. Evenly shared, three blocks have 7 and nine have 8: 1.0323.

k-steps are counted by what the warps of a block load of A, which is as much for each k-step here, as all tiles are whole. A block must leave at most one tile of partial sums, 256 floats: as
many as there is room for in `partial`. Whoever splits all tiles leaves more. Adding to C by atomics would need no partial sums, but the bits
of the result would depend on the order of arrival: none is allowed.

In variant b A is lower triangular, so that tiles of one product have different numbers of k-steps: 30 of the first product, 1 + 2 + … + 16 of
the second, 9 of the third, 175 for 12 blocks, 14.5833 each. Of whole tiles in turn, block 3 has 2 + 4 + 16 = 22, 1.5086 times the mean;
evenly shared, seven blocks have 15: 1.0286. Who shares out k-steps of zeros as well has even shares, too. So no warp may load anything of a
k-step that lies behind the diagonal's.

A block could load for nothing until all blocks have loaded alike. So, on an input that the seed draws, one block after the other loads zeros for
A, and what the products miss then must be an equal share of their k-steps. The other gates are read there, too.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from course_lib import simt
from course_lib.check.ragged import BK, BLOCKS, GAP, TILE, Ragged, RaggedCase, Size, all_cases, drawn, gate_case, lower_case, steps_of
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import Again
from course_lib.grading.judge.ptx_edits import without_one_block
from course_lib.grading.judge.spec import Gate, Reading, Spec
from course_lib.model.stream_k import share_begins
from course_lib.run.traces import is_load, is_store
from course_lib.simt.report import TraceRecord

EXERCISE = "19_busy"
STEPS = 93                               # k-steps of all tiles in the input of the gates
MEAN, MOST = STEPS / BLOCKS, int(np.diff(share_begins(STEPS, BLOCKS)).max())      # of a block, evenly shared
WARPS = TILE * TILE // 32                # of a block; all are looked at
EVERY_WARP = tuple(((block, 0, 0), warp) for block in range(BLOCKS) for warp in range(WARPS))
A, C, READY = 1, 3, 5                    # among the arrays of the launch, in the order of the arguments


def _inside(report: simt.Report, which: int, record: TraceRecord) -> bool:
    """Tell whether an access of a warp touches one of the launch's arrays."""
    array, active = report.arrays[which], record.addresses[record.addresses >= 0]
    return bool(len(active)) and bool((array.address <= active[0]) & (active[0] < array.address + array.nbytes))


def busiest_over_mean(report: simt.Report, work: float) -> Reading:
    """Read the loads of A of the busiest block's warps over the mean of all blocks."""
    loads: Counter[int] = Counter()
    for record in report.trace:
        copies = record.operation.startswith("cp.async") and record.space == "global"
        if (copies or is_load(record)) and _inside(report, A, record):
            loads[record.block[0]] += record.width
    most, total = max(loads.values(), default=0), loads.total()
    share = most * BLOCKS / total if total else float(BLOCKS)
    return Reading(share, f"{most} of {total} bytes a lane of all warps, on {BLOCKS} blocks")


def most_left(report: simt.Report, work: float) -> Reading:
    """Read how many tiles of sums the block stores that stores most of them outside C; of the flags nothing counts."""
    stored: Counter[int] = Counter()
    for record in report.trace:
        if record.space == "global" and is_store(record) and not _inside(report, C, record) and not _inside(report, READY, record):
            stored[record.block[0]] += int((record.addresses >= 0).sum()) * record.width // 4
    most = max(stored.values(), default=0)
    return Reading(most / TILE**2, f"{most} floats of a block / {TILE**2}")


def atomics_on_c(report: simt.Report, work: float) -> Reading:
    """Read how many atomic operations warps apply to C."""
    found = sum(record.operation.startswith(("atom", "red")) and _inside(report, C, record) for record in report.trace)
    return Reading(float(found), f"{found} in all blocks")


def behind_the_diagonal(report: simt.Report, work: float, sizes: tuple[Size, ...] = lower_case({}).sizes) -> Reading:
    """Read how many elements of A, lower triangular, warps load of k-steps that hold zeros alone; `sizes`: of the launch's products."""
    array, begins, found = report.arrays[A], 0, 0
    asked = [record.addresses[record.addresses >= 0] for record in report.trace
             if record.space == "global" and not is_store(record) and _inside(report, A, record)]
    at = (np.concatenate(asked or [np.zeros(0, np.int64)]) - array.address) // array.itemsize
    for M, _, K in sizes:
        mine = at[(begins <= at) & (at < begins + M * K)] - begins
        found += int((mine % K // BK > mine // K // TILE).sum())
        begins += M * K + GAP
    return Reading(float(found), f"{found} by all warps")


def even_shares(again: Again) -> str:
    """Say what is wrong when one block makes much more of the products than another, on an input that the seed draws.

    A block whose elements of A are all 0 adds nothing. What the products miss then are its k-steps, whatever else it loads or multiplies. The
    other gates are read on this input, too.
    """
    lower = again.entry == "lower"
    case = _drawn_counted(np.random.default_rng(again.seed), lower)
    trial, report = again.run(again.ptx, case, trace=EVERY_WARP)
    edited = without_one_block(again.ptx, again.entry, array=2, nbytes=trial.A.nbytes, told=(1, 24 * len(case.sizes)))

    def without(block):
        mark = np.array([[block, 0, 0, 0, 0, 0]], np.int32)              # behind all products; the changed kernel alone looks there
        trial = again.run(edited, case, change=lambda trial: replace(trial, sizes=np.vstack([trial.sizes, mark])))[0]
        return list(replace(trial, sizes=trial.sizes[:-1]).products())

    whole = list(trial.products())
    steps = [sum(_missing(A, B, C - lost) for (A, B, C), (_, _, lost) in zip(whole, without(block), strict=True)) for block in range(BLOCKS)]
    most, mean = max(steps), sum(steps) / BLOCKS
    if mean == 0 or most > GATES[0].limit * mean:
        return (f"Block {steps.index(most)} makes {most:.0f} k-steps of the products, and a block {mean:.2f} on average ({case}). Loads that "
                "serve no product even nothing out: each block must multiply its equal share of all k-steps")
    zeros = [(ZEROS, behind_the_diagonal(report, 0, case.sizes))] if lower else []
    for gate, reading in [*((gate, gate.read(report, 0)) for gate in GATES[1:]), *zeros]:
        if reading.value > gate.limit:
            return f"{gate.name}: {reading.value:.4f} ({reading.words}, {case}), at most {gate.limit:.4f} passes. {gate.advice}"
    return ""


def _drawn_counted(rng: np.random.Generator, lower: bool) -> RaggedCase:
    """Return an input of whole tiles, of which even shares are within the limit, and whole tiles in turn are not."""
    while True:
        sizes = [(int(M), int(N), int(M if lower else K)) for M, N, K in 16 * rng.integers(1, (6, 5, 9), (int(rng.integers(3, 8)), 3))]
        deep = 16 * int(rng.integers(16, 50))
        sizes.insert(int(rng.integers(len(sizes) + 1)), (deep, 16, deep) if lower else (16, 16, deep))
        total = sum(steps_of(size, lower) for size in sizes)
        if 80 <= total <= 400 and -(-total // BLOCKS) * BLOCKS <= 1.04 * total and _dealt(sizes, lower) * BLOCKS > 1.3 * total:
            return RaggedCase("counters, of drawn sizes", tuple(sizes))


def _dealt(sizes, lower):
    """Return the k-steps of the busiest block when whole tiles are dealt out in turn."""
    tiles = [min(K // BK, row + 1) if lower else K // BK for M, N, K in sizes for row in range(M // TILE) for _ in range(N // TILE)]
    return max(sum(tiles[block::BLOCKS]) for block in range(BLOCKS))


def _missing(A, B, change):
    """Return how many k-steps the change of a product is, tile by tile: the least from one step to another that explain it."""
    found = 0.0
    for row in range(0, len(A), TILE):
        for col in range(0, B.shape[1], TILE):
            part = change[row:row + TILE, col:col + TILE].astype(np.float64)
            if part.any():
                a, b = A[row:row + TILE].astype(np.float64), B[:, col:col + TILE].astype(np.float64)
                sums = np.cumsum([0 * part] + [a[:, k:k + BK] @ b[k:k + BK] for k in range(0, A.shape[1], BK)], axis=0)
                found += _least(sums, part)
    return found


def _least(sums, part):
    """Return between which two of the sums of a tile the part is, as a number of steps; by its size where it is between none."""
    off = np.abs(sums[None] - sums[:, None] - part).max(axis=(2, 3))
    fits = [last - first for first, last in np.argwhere(off < 1e-3) if last > first]
    each = (np.diff(sums, axis=0) ** 2).sum()
    return min(fits, default=(len(sums) - 1) * float((part ** 2).sum() / each))


GATES = (
    Gate("k-steps of the busiest block over the mean", busiest_over_mean, 1.05, 42 / MEAN, MOST / MEAN,
         "Number the k-steps of all tiles of all products in one line, and give each block an equal share of it"),
    Gate("tiles of partial sums that a block leaves, at most", most_left, 1.0, 0.0, 1.0,
         "Only the last tile of a block's share can be one that another block ends: leave its sums once, when they are complete"),
    Gate("atomic operations on C", atomics_on_c, 0.0, 0.0, 0.0,
         "Add what other blocks have left in the order of their numbers, so that the bits do not depend on who comes first"),
)

ZEROS = Gate("elements of A loaded behind the diagonal's k-step", behind_the_diagonal, 0.0, 0.0, 0.0,
             "A tile in tile row r needs the first r + 1 k-steps: number only these in your line")
LOWER_GATES = (replace(GATES[0], starter=22 / (175 / 12), achievable=15 / (175 / 12)), *GATES[1:], ZEROS)


def unit_of(products: tuple[tuple[int, int, int], ...], unit: int) -> tuple[int, int, int]:
    """Return the product, the tile in it and the k-step of a unit, by walking along the line.

    >>> unit_of(((16, 32, 32), (16, 16, 16)), 3), unit_of(((16, 32, 32), (16, 16, 16)), 4)
    ((0, 1, 1), (1, 0, 0))
    """
    line = ((p, tile, step) for p, (M, N, K) in enumerate(products)
            for tile in range(-(-M // TILE) * -(-N // TILE)) for step in range(-(-K // BK)))
    return next(found for number, found in enumerate(line) if number == unit)


def _mistake(arguments: tuple, got: object) -> str:
    """Name the mistake behind a wrong unit."""
    products, unit = arguments
    right = unit_of(products, unit)
    if not isinstance(got, tuple | list) or len(got) != 3:
        return "Return three whole numbers: product, tile, k-step"
    if got[0] != right[0]:
        return f"It belongs to product {right[0]}: products before it have ⌈M/16⌉ · ⌈N/16⌉ · ⌈K/16⌉ units each"
    if tuple(got[1:]) == right[:0:-1]:
        return "Tile and k-step are exchanged: all k-steps of a tile come before the next tile"
    return "Count from the first unit of the product: all k-steps of tile 0, then those of tile 1"


def _some(rng: np.random.Generator) -> list[tuple]:
    """Draw products and units."""
    found = []
    for _ in range(6):
        products = tuple((int(M), int(N), int(K)) for M, N, K in rng.integers(1, 70, (int(rng.integers(1, 5)), 3)))
        total = sum(-(-M // TILE) * -(-N // TILE) * -(-K // BK) for M, N, K in products)
        found.append((products, int(rng.integers(0, total))))
    return found


def _part(part: str, title: str, entry: str, lower: bool) -> Spec:
    return Spec(EXERCISE, part, title, entry, Ragged(lower), (), grid=lambda case, tile: (BLOCKS, 1, 1), block=lambda tile: (TILE, TILE, 1),
                cases=all_cases, gate_case=lower_case if lower else gate_case, gates=LOWER_GATES if lower else GATES, drawn=drawn, atomics=True, made_of=(even_shares,),
                trace=lambda case, tile, rng: EVERY_WARP)


PARTS = (
    FunctionSpec(EXERCISE, "unit", "Part 1: find a unit", "unit_of", ("products", "unit"),
                 cases=((((16, 16, 64),), 3), (((32, 16, 32), (16, 16, 16)), 4), (((48, 48, 64), (5, 5, 5)), 7), (((17, 17, 40), (30, 30, 30)), 4),
                        (((17, 33, 20), (5, 5, 5), (1, 1, 100)), 14)),
                 drawn=_some, expected=unit_of, guess=_mistake),
    _part("main", "Part 2: share them out", "ragged", lower=False),
    _part("main-b", "Part 2: share them out (A is lower triangular)", "lower", lower=True),
)
