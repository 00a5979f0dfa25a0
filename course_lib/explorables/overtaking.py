"""Lesson 04's second explorable: the warps of a block in the simulator's order, with the second barrier and without it, from traces."""

import functools
import itertools
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import kernels
from course_lib.check.reports import plain_name
from course_lib.errors import CourseError
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import RunResult, run
from course_lib.run.accuracy import magnitude, reference, tolerance
from course_lib.run.traces import array_of, every_warp, is_barrier, is_load, is_store
from course_lib.simt.report import TraceRecord

T, DEPTH, WARP, WARPS, FLOAT = 16, 32, 32, 8, 4
BARRIER = "__syncthreads();"


@functools.cache
def matrices() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return A and B of one block: two tiles along K."""
    rng = np.random.default_rng(4)
    return rng.standard_normal((T, DEPTH), dtype=np.float32), rng.standard_normal((DEPTH, T), dtype=np.float32)


def traced(text: str, **sizes: int) -> RunResult:
    """Run one block of 16 × 16 threads in the simulator, and trace all its warps."""
    options: dict[str, Any] = {"trace": every_warp((1, 1), (T, T)), **sizes}
    return run(text, *matrices(), backend="sim", **options)


def wrong_elements(result: RunResult) -> list[int]:
    """Return which elements of C are wrong, counted from 0 row by row: those that rounding does not explain."""
    allowed = tolerance(DEPTH) * magnitude(*matrices())
    return np.flatnonzero(~(np.abs(result.C - reference(*matrices())) <= allowed)).tolist()


def tiles_of(result: RunResult) -> dict[str, tuple[int, int]]:
    """Return, for both shared tiles, where they begin in shared memory and how many words they have.

    Raises
    ------
    CourseError
        When the kernel has not two shared arrays of 16 rows.
    """
    found = {plain_name(v.name): (v.offset, v.nbytes // FLOAT) for v in result.shared}
    if len(found) != 2 or any(words % T for _, words in found.values()):
        raise CourseError("this picture is for a kernel with two shared tiles of 16 rows, such as As and Bs")
    return found


def words_of(record: TraceRecord, tiles: dict[str, tuple[int, int]]) -> tuple[str, NDArray[np.int64]]:
    """Return the tile that an access of a warp goes to, and its words: one row per active lane."""
    active = np.asarray(record.addresses)[record.addresses >= 0]
    name = next(name for name, (start, words) in tiles.items() if start <= active[0] < start + FLOAT * words)
    return name, (active[:, None] - tiles[name][0] + np.arange(0, record.width, FLOAT)) // FLOAT


def versions(result: RunResult) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return, for the n-th read of each warp from shared memory, how often each word had been written by then."""
    tiles = tiles_of(result)
    written = {name: np.zeros(words, dtype=int) for name, (_, words) in tiles.items()}
    reads, found = [0] * WARPS, {}
    for record in result.trace:
        if record.space == "shared":
            name, words = words_of(record, tiles)
            if is_load(record):
                found[record.warp, reads[record.warp]] = written[name][words].copy()
                reads[record.warp] += 1
            else:
                written[name][words] += 1
    return found


def kind_of(record: TraceRecord) -> str | None:
    """Return what a warp does in one access: "fill" the tiles, "multiply", "store" C; or "barrier"."""
    if is_barrier(record):
        return "barrier"
    if record.space == "shared":
        return "multiply" if is_load(record) else "fill"
    return None if record.space is None else "store" if is_store(record) else "fill"


def steps_of(result: RunResult, right: RunResult) -> list[dict[str, Any]]:
    """Return what the warps did, in their order, and what they read that they would not have read in `right`.

    A step is one warp that fills, multiplies or stores until it does something else, or a barrier at which the last warp arrives. `tile`:
    0 or 1. `writes`, `reads`: words of each tile. `early`: those that were read although they belonged to a later tile already.
    `spoilt`: the elements of C of the threads that did so.
    """
    tiles, now, then = tiles_of(result), versions(result), versions(right)
    owner, filled, reads, waiting = element_of(result), [0] * WARPS, [0] * WARPS, 0
    steps: list[dict[str, Any]] = []
    for (kind, warp), group in itertools.groupby((r for r in result.trace if kind_of(r)), key=lambda r: (kind_of(r), r.warp)):
        records = list(group)
        if kind == "barrier":
            waiting += len(records)
            if waiting % WARPS == 0:
                steps.append({"kind": kind, "warp": -1, "tile": waiting // WARPS - 1})
            continue
        filled[warp] += kind == "fill"
        step = {"kind": kind, "warp": warp, "tile": filled[warp] - 1, "writes": defaultdict(set), "reads": defaultdict(set),
                "early": defaultdict(set), "spoilt": set()}
        for record in (r for r in records if r.space == "shared"):
            name, words = words_of(record, tiles)
            step["reads" if is_load(record) else "writes"][name] |= set(words.ravel().tolist())
            if is_load(record):
                early = now[warp, reads[warp]] != then[warp, reads[warp]]
                reads[warp] += 1
                step["early"][name] |= set(words[early].tolist())
                lanes = np.flatnonzero(np.asarray(record.addresses) >= 0)[early.any(axis=1)]
                step["spoilt"] |= {owner[WARP * warp + int(lane)] for lane in lanes}
        steps.append({key: _plain(value) for key, value in step.items()})
    return steps


def element_of(result: RunResult) -> dict[int, int]:
    """Return which element of C each thread stores, counted from 0 row by row."""
    start = array_of(result, "C").address
    return {WARP * record.warp + lane: int(address - start) // FLOAT
            for record in result.trace if record.space == "global" and is_store(record)
            for lane, address in enumerate(record.addresses) if address >= 0}


def _plain(value: Any) -> Any:
    """Return sets as sorted lists, as JSON takes them."""
    if isinstance(value, dict):
        return {name: sorted(words) for name, words in value.items()}
    return sorted(value) if isinstance(value, set) else value


def states_of(whole: str, broken: str, **sizes: int) -> dict[str, Any]:
    """Return what the warps did with both barriers and without the second, and which elements of C are wrong, as JSON takes it."""
    right, wrong = traced(whole, **sizes), traced(broken, **sizes)
    tiles = {name: [T, words // T] for name, (_, words) in tiles_of(right).items()}
    runs = {"there": right, "out": wrong}
    return {"tiles": tiles, **{key: {"steps": steps_of(result, right), "wrong": wrong_elements(result)} for key, result in runs.items()}}


@functools.cache
def courses_own() -> dict[str, Any]:
    """Return the states of the course's tiled kernel."""
    text = kernels.get("sgemm_tiled").source
    before, _, after = text.rpartition(BARRIER)
    return states_of(text, before + after, BM=T, BN=T, BK=T)


class Overtaking(Explorable):
    """Eight warps that share two tiles; made by `overtaking`."""

    name = "overtaking"
    title = "The eight warps of a block, with the second barrier and without it"
    _esm = module_text("overtaking")

    def static_text(self) -> str:
        said = (f"{self.title}, in the order in which the simulator ran them: what each warp stores in the shared tiles, what it reads "
                "there, and which elements of C become wrong. Run this cell to play it.")
        return f"{self.states['instead']} {said}" if "instead" in self.states else said


def overtaking(whole: str | None = None, broken: str | None = None, *, instead: str = "") -> Overtaking:
    """Play the warps of one block with the second barrier and without it, as the simulator traced them.

    Parameters
    ----------
    whole, broken
        A tiled kernel for blocks of 16 × 16 threads, and the same without its second barrier; the one of the catalog when left out.
    instead
        A sentence that says why it is that one.

    Raises
    ------
    CourseError
        When the kernel has not two shared tiles of 16 rows.
    """
    states = courses_own() if whole is None or broken is None else states_of(whole, broken, bx=T, by=T)
    return Overtaking(states=states | {"instead": instead} if instead else states, values={"barrier": "out"})
