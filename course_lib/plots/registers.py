"""Register blocking: what one thread computes, and what it reads for that."""

from dataclasses import dataclass

import numpy as np

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.run import LaunchResult, RunResult
from course_lib.run.traces import array_of, elements, is_load, is_store


@dataclass(frozen=True)
class Share:
    """What one thread of a block does: rows and columns of its outputs in the block's tile, of `rows` × `cols` elements.

    `a_rows`, `b_cols` are the rows of A's tile and the columns of B's tile from which it reads a word for each k; `words` is how many
    words it reads for each k in all.
    """

    rows: int
    cols: int
    outputs: tuple[tuple[int, int], ...]
    a_rows: tuple[int, ...]
    b_cols: tuple[int, ...]
    words: float


def words_read(result: LaunchResult) -> int:
    """Count the 32-bit words that the lanes of all traced warps load from shared memory.

    Parameters
    ----------
    result
        Traced; a trace has every load as the source has it, before the assembler joins neighbours to wider ones.

    Raises
    ------
    CourseError
        Without a trace.

    >>> from types import SimpleNamespace
    >>> load = SimpleNamespace(space="shared", operation="ld.shared.f32", width=4, addresses=np.arange(32) * 4)
    >>> words_read(SimpleNamespace(trace=[load, load]))
    64
    """
    if not result.trace:
        raise CourseError("nothing was traced: run the kernel with trace=, for example trace=every_warp(grid, block)")
    loads = [r for r in result.trace if r.space == "shared" and is_load(r)]
    return sum(int((np.asarray(r.addresses) >= 0).sum()) * r.width // 4 for r in loads)


def thread_share(result: RunResult, thread: tuple[int, int] = (0, 0), shared: tuple[str, str] = ("As", "Bs")) -> Share:
    """Find, from the trace, which outputs one thread of block (0, 0) stores and which words of the shared tiles it reads.

    Parameters
    ----------
    result
        Of one block that covers C exactly, its tiles as deep as K, with the thread's warp traced.
    thread
        Its x and y within its block.
    shared
        The names of the tiles of A, of M × K elements, and of B, of K × N.

    Raises
    ------
    CourseError
        When there are more blocks, or the thread's warp is not in the trace.
    """
    if result.grid[:2] != (1, 1):
        raise CourseError(f"there are {result.grid[0]} × {result.grid[1]} blocks, but one thread's share is drawn for one block")
    number = thread[1] * result.block[0] + thread[0]
    lane = number % WARP
    records = [r for r in result.trace if r.warp == number // WARP and r.addresses[lane] >= 0]
    C, sizes = array_of(result, "C"), {v.name: v for v in result.shared}
    stored = [e for r in records if r.space == "global" and is_store(r) for n, e in elements(r, C.address, C.itemsize) if n == lane]
    if not stored:
        raise CourseError(f"thread {thread} stores nothing in this trace: trace its warp, {number // WARP}")
    loads = [r for r in records if r.space == "shared" and is_load(r)]
    found, words = [], 0
    for name, columns in zip(shared, (result.K, result.N), strict=True):
        tile = sizes[name]
        inside = [r for r in loads if tile.offset <= r.addresses[lane] < tile.offset + tile.nbytes]
        read = np.array([e for r in inside for n, e in elements(r, tile.offset, C.itemsize) if n == lane], int)
        words += len(read)
        found.append(np.unique(read // columns if name == shared[0] else read % columns))
    outputs = tuple(sorted(divmod(int(e), result.N) for e in stored))
    a_rows, b_cols = (tuple(map(int, numbers)) for numbers in found)
    return Share(result.M, result.N, outputs, a_rows, b_cols, words / result.K)


def describe_share(share: Share) -> str:
    """Return in words which outputs a thread has, and what it reads.

    >>> describe_share(Share(8, 8, ((0, 0), (0, 4)), (0,), (0, 4), 3.0))
    'In a tile of 8 × 8 elements one thread computes 2: rows 0, columns 0, 4. For each k it reads 3 words: 1 of A, 2 of B.'
    """
    rows, cols = (sorted({output[i] for output in share.outputs}) for i in (0, 1))
    return (f"In a tile of {share.rows} × {share.cols} elements one thread computes {len(share.outputs)}: rows {_list(rows)}, columns "
            f"{_list(cols)}. For each k it reads {share.words:g} words: {len(share.a_rows)} of A, {len(share.b_cols)} of B.")


def _list(values):
    return ", ".join(map(str, values))
