"""From a kernel's trace to what a picture shows: who stores which element, what one request touches.

Everything here reads `result.trace`, `result.arrays` and `result.shared`, that is, what the kernel itself did;
nothing is worked out from the launch parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib.arch import SECTOR_BYTES
from course_lib.errors import CourseError
from course_lib.run.result import RunResult
from course_lib.run.types import Extent, Traced, Warp
from course_lib.simt.report import DeviceArray, TraceRecord


def array_of(result: Traced, name: str) -> DeviceArray:
    """Return the device array of the kernel parameter `name`.

    Raises
    ------
    CourseError
        Naming the arrays there are.
    """
    for array in result.arrays:
        if array.name == name:
            return array
    raise CourseError(f"the launch has no array {name!r}; it has {', '.join(a.name for a in result.arrays)}")


def is_load(record: TraceRecord) -> bool:
    """Return whether a trace record reads memory.

    Loads are `ld.…` and, through the read-only cache, `ld.global.nc.…`.
    """
    return record.operation.startswith("ld.")


def is_store(record: TraceRecord) -> bool:
    """Return whether a trace record writes memory."""
    return record.operation.startswith("st.")


def is_barrier(record: TraceRecord) -> bool:
    """Return whether a trace record is a block-wide barrier."""
    return record.operation.startswith(("bar.", "barrier."))


def elements(record: TraceRecord, base: int, itemsize: int) -> NDArray[np.integer]:
    """Return (lane, element) pairs: the element indices, counted from `base`, that each active lane touches.

    Returns
    -------
    (n, 2) array
        In lane order; a lane of a 128-bit access to float32 gives four pairs.
    """
    lanes = np.flatnonzero(np.asarray(record.addresses) >= 0)
    first = (np.asarray(record.addresses)[lanes] - base) // itemsize
    each = max(1, record.width // itemsize)
    return np.column_stack([np.repeat(lanes, each), (first[:, None] + np.arange(each)).ravel()])


@dataclass(frozen=True)
class Owners:
    """Who stores each element of C: arrays of shape (M, N), -1 where nobody does.

    `block_x`, `block_y` are the block's index, `warp` the warp in its block, `lane` the thread in its warp.
    """

    block_x: np.ndarray
    block_y: np.ndarray
    warp: np.ndarray
    lane: np.ndarray


def owners(result: RunResult, array: str = "C") -> Owners:
    """Find, from the stores in the trace, which thread writes each element of an M × N array.

    Parameters
    ----------
    result
        Of a run with `trace=` naming every (block, warp) pair: see `every_warp`.
    array
        The kernel parameter; its rows are N elements apart.
    """
    target = array_of(result, array)
    maps = np.full((4, result.M * result.N), -1)
    for record in result.trace:
        if record.space != "global" or not is_store(record):
            continue
        for lane, element in elements(record, target.address, target.itemsize):
            if 0 <= element < maps.shape[1]:
                maps[:, element] = record.block[0], record.block[1], record.warp, lane
    return Owners(*maps.reshape(4, result.M, result.N))


def every_warp(grid: Sequence[int], block: Sequence[int]) -> tuple[Warp, ...]:
    """Return the (block, warp) pairs of a whole launch, to pass as `trace=`.

    >>> every_warp((2, 1), (16, 4))
    (((0, 0, 0), 0), ((0, 0, 0), 1), ((1, 0, 0), 0), ((1, 0, 0), 1))
    """
    gx, gy, gz = (*grid, 1, 1)[:3]
    warps = -(-int(np.prod(block)) // 32)
    return tuple(((x, y, z), w) for z in range(gz) for y in range(gy) for x in range(gx) for w in range(warps))


def requests(result: Traced, *, array: str | None = None, line: int | None = None, load: bool | None = None, space: str = "global",
             block: Extent | None = None, warp: int | None = None) -> tuple[TraceRecord, ...]:
    """Return the loads and stores of a trace, in order, that meet every condition given.

    Parameters
    ----------
    array
        Only accesses inside this kernel parameter's array, or this `__shared__` array.
    line
        Only this source line.
    load
        Only loads (True) or only stores (False).
    space
        "global" or "shared".
    block
        Only this block's: (x, y, z).
    warp
        Only this warp's, counted in its block.
    """
    inside = _range(result, array, space) if array else None
    found = []
    for record in result.trace:
        wanted = {"space": space, "line": line, "block": block, "warp": warp}
        if any(value is not None and getattr(record, name) != value for name, value in wanted.items()):
            continue
        if load is not None and is_load(record) != load:
            continue
        active = np.asarray(record.addresses)[np.asarray(record.addresses) >= 0]
        if len(active) and (inside is None or inside[0] <= active[0] < inside[1]):
            found.append(record)
    return tuple(found)


def _range(result: Traced, name: str, space: str) -> tuple[int, int]:
    """Return the first address of an array and the first beyond it."""
    if space == "global":
        array = array_of(result, name)
        return array.address, array.address + array.nbytes
    for variable in result.shared:
        if variable.name == name:
            return variable.offset, variable.offset + variable.nbytes
    there = ", ".join(v.name for v in result.shared) or "none"
    raise CourseError(f"the launch has no shared array {name!r}; it has {there}")


def name_of(result: Traced, record: TraceRecord) -> str:
    """Return the name of the array that a request touches first, or "" when it is none that is known.

    The record must have an active lane.
    """
    active = np.asarray(record.addresses)[np.asarray(record.addresses) >= 0]
    arrays = [(a.name, a.address, a.nbytes) for a in result.arrays] if record.space == "global" else [
        (v.name, v.offset, v.nbytes) for v in result.shared]
    return next((name for name, first, size in arrays if first <= active[0] < first + size), "")


def touched_sectors(record: TraceRecord) -> NDArray[np.integer]:
    """Return the distinct sectors of one request in rising order: byte address divided by 32.

    >>> from types import SimpleNamespace
    >>> touched_sectors(SimpleNamespace(addresses=np.arange(32) * 4, width=4)).tolist()
    [0, 1, 2, 3]
    """
    first = np.asarray(record.addresses)
    first = first[first >= 0]
    touched = first[:, None] + np.arange(record.width)
    return np.unique(touched // SECTOR_BYTES)
