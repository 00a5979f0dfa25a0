"""Lesson 04's explorable: one block of the naive kernel and one of the tiled kernel, side by side, step by step from their traces."""

import functools
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from course_lib.arch import SECTOR_BYTES
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import RunResult, run
from course_lib.run.traces import array_of, every_warp, is_barrier, is_load, name_of, touched_sectors
from course_lib.simt.report import TraceRecord

TILE, DEPTH = 16, 32                  # C has one tile of 16 × 16; A and B are 32 deep, so that the tile slides once
LAUNCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "naive": ("sgemm_naive", {"bx": TILE, "by": TILE}),
    "tiled": ("sgemm_tiled", {"BM": TILE, "BN": TILE, "BK": TILE}),
}
SHAPES = {"A": (TILE, DEPTH), "B": (DEPTH, TILE), "C": (TILE, TILE), "As": (TILE, TILE), "Bs": (TILE, TILE)}


@dataclass
class Part:
    """What a block does in one step.

    `line`: of the kernel's source. `touch`: for each array the element that each thread touches. `sectors`: for each array, and each warp,
    the sectors that its load request asks for, counted from the array's beginning; only loads from global memory. `requests` and `total`
    count these loads' requests and sectors, from the beginning to the end of this step.
    """

    line: int
    touch: dict[str, list[int]] = field(default_factory=dict)
    sectors: dict[str, list[list[int]]] = field(default_factory=dict)
    requests: int = 0
    total: int = 0


@dataclass
class TilingStep:
    """Both blocks at the same multiply-add. `kind`: load, barrier, multiply or store; `tile`, `k`: which. None: that block does nothing."""

    kind: str
    tile: int
    k: int
    naive: Part | None
    tiled: Part


def traced(side: str) -> RunResult:
    """Run a kernel on one block in the simulator, and trace all its warps."""
    kernel, parameters = LAUNCHES[side]
    A, B = (np.arange(np.prod(SHAPES[name]), dtype=np.float32).reshape(SHAPES[name]) for name in "AB")
    return run(kernel, A, B, backend="sim", trace=every_warp((1, 1), (TILE, TILE)), **parameters)


def by_warp(result: RunResult) -> list[list[TraceRecord]]:
    """Return the accesses and barriers of each warp, in its order."""
    events = defaultdict(list)
    for record in result.trace:
        if record.space is not None or is_barrier(record):
            events[record.warp].append(record)
    return [events[warp] for warp in sorted(events)]


def part_of(result: RunResult, accesses: dict[str, list[TraceRecord]]) -> Part:
    """Make a part of one access of every warp to each of these arrays."""
    made = Part(line=next(iter(accesses.values()))[0].line)
    for name, records in accesses.items():
        in_memory = records[0].space == "global"
        start = array_of(result, name).address if in_memory else next(v.offset for v in result.shared if v.name.endswith(name))
        made.touch[name] = [int(a - start) // 4 for record in records for a in record.addresses]
        if in_memory and is_load(records[0]):
            made.sectors[name] = [(touched_sectors(record) - start // SECTOR_BYTES).tolist() for record in records]
    return made


def accesses_of(result: RunResult) -> dict[str, list[list[TraceRecord]]]:
    """Return, for each array and direction such as "A" or "to As", the n-th access of every warp, for every n."""
    found = defaultdict(list)
    for events in by_warp(result):
        mine = defaultdict(list)
        for record in events:
            name = "barrier" if is_barrier(record) else name_of(result, record)
            mine[name if is_load(record) or name == "barrier" else f"to {name}"].append(record)
        for name, records in mine.items():
            found[name].append(records)
    return {name: [list(each) for each in zip(*lists, strict=True)] for name, lists in found.items()}


def frames() -> list[TilingStep]:
    """Return the steps of both blocks: per tile two loads, a barrier, a multiply-add for each k, and another barrier; then the store."""
    left, right = (traced(side) for side in LAUNCHES)
    naive, tiled = accesses_of(left), accesses_of(right)
    barriers, steps = iter(tiled["barrier"]), []
    for tile in range(DEPTH // TILE):
        for name in "AB":
            both = {name: tiled[name][tile], f"{name}s": tiled[f"to {name}s"][tile]}
            steps.append(TilingStep("load", tile, tile * TILE, None, part_of(right, both)))
        steps.append(TilingStep("barrier", tile, tile * TILE, None, Part(next(barriers)[0].line)))
        for k in range(tile * TILE, (tile + 1) * TILE):
            here = part_of(left, {name: naive[name][k] for name in "AB"})
            steps.append(TilingStep("multiply", tile, k, here, part_of(right, {name: tiled[name][k] for name in ("As", "Bs")})))
        steps.append(TilingStep("barrier", tile, (tile + 1) * TILE, None, Part(next(barriers)[0].line)))
    stores = (part_of(result, {"C": found["to C"][0]}) for result, found in ((left, naive), (right, tiled)))
    return counted([*steps, TilingStep("store", tile, DEPTH, *stores)])


def counted(steps: list[TilingStep]) -> list[TilingStep]:
    """Give every part the requests and sectors from the beginning."""
    for side in LAUNCHES:
        requests = total = 0
        for part in filter(None, (getattr(step, side) for step in steps)):
            asked = [sectors for warps in part.sectors.values() for sectors in warps]
            requests, total = requests + len(asked), total + sum(map(len, asked))
            part.requests, part.total = requests, total
    return steps


@functools.cache
def states() -> dict[str, Any]:
    """Return what both blocks do, as JSON takes it: two small runs."""
    return {"shapes": SHAPES, "steps": [asdict(step) for step in frames()]}


class Tiling(Explorable):
    """Two blocks and what they load; made by `side_by_side`."""

    name = "tiling"
    title = "One block of the naive kernel and one of the tiled kernel"
    _esm = module_text("tiling")

    def static_text(self) -> str:
        return (f"{self.title}, side by side. Each computes the same {TILE} × {TILE} elements of C with one thread each, and a counter "
                "below its name counts the sectors that it has loaded. Run this cell to play it.")


def side_by_side(row: int = 5, column: int = 3) -> Tiling:
    """Play a block of sgemm_naive and a block of sgemm_tiled side by side, with counters of what they load.

    Parameters
    ----------
    row, column
        Which element of C is watched, 0 to 15: the thread (column, row) computes it.
    """
    return Tiling(states=states(), values={"row": row, "column": column})
