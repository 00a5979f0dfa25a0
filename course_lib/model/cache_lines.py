"""How many cache lines a loop fetches: a cache that forgets what was used longest ago, in plain Python.

A model, not a measurement: one level, no prefetching, every miss fetches a line. `course_lib.run.count_lines` runs the
same cache in C, under the reader's own loops; the two share no code and must agree.
"""

import itertools
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.errors import CourseError

MATRICES = ("A", "B", "C")
Layout = tuple[int, int, int]                               # rows, columns and leading dimension of a matrix
Steps = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]      # i, j, k of every step


@dataclass(frozen=True)
class CacheShape:
    """A cache.

    Attributes
    ----------
    size, line
        Bytes in all, bytes of a line.
    ways
        Lines that a set holds, as in an 8-way cache; None: every line may lie anywhere (fully associative).

    >>> CacheShape().lines, CacheShape(ways=8).sets
    (512, 64)
    """

    size: int = 32 * 1024
    line: int = 64
    ways: int | None = None

    def __post_init__(self):
        if self.line < 8 or self.line & (self.line - 1):
            raise CourseError(f"a cache line of {self.line} bytes: it must be a power of two, at least 8")
        if self.size < self.line or self.size % self.line:
            raise CourseError(f"a cache of {self.size} bytes: it must be a multiple of its lines of {self.line} bytes")
        if self.ways is not None and (self.ways < 1 or self.lines % self.ways):
            raise CourseError(f"{self.lines} lines cannot be shared out to sets of {self.ways}: "
                              f"ways must divide {self.lines}")

    @property
    def lines(self) -> int:
        """Return how many lines the cache holds."""
        return self.size // self.line

    @property
    def sets(self) -> int:
        """Return among how many sets they are shared out; a line's set is its number modulo this."""
        return self.lines // (self.ways or self.lines)

    def column(self, stride: int) -> int:
        """Return how many lines of a column the cache can hold, whose elements are `stride` bytes apart.

        Lines that many bytes apart fall into every (stride / line)-th set only, so a power of two leaves most sets unused.

        Raises
        ------
        CourseError
            When the stride is not positive.

        >>> cache = CacheShape(32 * 1024, ways=8)
        >>> [(N, cache.column(4 * N)) for N in (120, 127, 128, 136)]
        [(120, 512), (127, 512), (128, 64), (136, 512)]
        """
        if not stride > 0:
            raise CourseError(f"a stride of {stride} bytes: it must be positive")
        if stride % self.line:          # the lines drift through all sets
            return self.lines
        return self.sets // math.gcd(stride // self.line, self.sets) * (self.ways or self.lines)

    def __str__(self):
        ways = "fully associative" if self.ways is None else f"{self.ways}-way"
        return f"{self.size // 1024} KiB, {ways}, lines of {self.line} bytes, least recently used goes first"


def first_lines(shapes: Sequence[Layout], itemsize: int, line: int) -> list[int]:
    """Return the number of the first line of each matrix: they lie one behind the other, each on a line of its own.

    Parameters
    ----------
    shapes : sequence of (rows, cols, leading dimension)
    itemsize, line
        Bytes of an element and of a line.

    >>> first_lines([(2, 20, 20)] * 3, 4, 64)
    [0, 3, 6]
    """
    first, start = [], 0
    for rows, cols, ld in shapes:
        first.append(start)
        start += -(-((rows - 1) * ld + cols) * itemsize // line)
    return first


class LineCounter:
    """A cache to which accesses to A, B and C are shown one by one.

    The matrices lie one behind the other, each beginning with a line of its own. In which order a compiler fetches the
    operands of one statement is its own choice, so accesses to different matrices in a row count as simultaneous, A
    before B before C.

    Parameters
    ----------
    shapes : three (rows, cols, leading dimension)
    itemsize
        Bytes of an element.
    room
        How many accesses are recorded in `trace`.

    Attributes
    ----------
    fetched, accesses
        Of A, B and C.
    trace
        Of the first `room` accesses: matrix, row, col, line, whether it was fetched, and the line that went for it or -1.
        Lines are numbered through all three matrices.

    >>> counter = LineCounter([(1, 32, 32)] * 3, 4, CacheShape())
    >>> for k in range(32): counter.touch(0, 0, k)
    >>> counter.finish().fetched
    [2, 0, 0]
    """

    def __init__(self, shapes: Sequence[Layout], itemsize: int, cache: CacheShape, room: int = 0) -> None:
        self.shapes, self.itemsize, self.cache = shapes, itemsize, cache
        self.room = room
        self.trace: list[tuple[int, int, int, int, int, int]] = []
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(cache.sets)]
        self.fetched, self.accesses = [0, 0, 0], [0, 0, 0]
        self.first = first_lines(shapes, itemsize, cache.line)
        self.pending: dict[int, tuple[int, int, int]] = {}

    def touch(self, matrix: int, row: int, col: int) -> None:
        """Show an access to element (row, col) of matrix 0, 1 or 2."""
        rows, cols, ld = self.shapes[matrix]
        if not (0 <= row < rows and 0 <= col < cols):
            raise CourseError(f"{MATRICES[matrix]}({row}, {col}) does not exist: "
                              f"{MATRICES[matrix]} has {rows} rows and {cols} columns")
        if matrix in self.pending:
            self.finish()
        self.pending[matrix] = row, col, self.first[matrix] + (row * ld + col) * self.itemsize // self.cache.line

    def finish(self) -> "LineCounter":
        """Let the accesses that count as simultaneous reach the cache; return the counter."""
        for matrix in sorted(self.pending):
            row, col, line = self.pending[matrix]
            lines, evicted = self.sets[line % len(self.sets)], -1
            missing = line not in lines
            self.accesses[matrix] += 1
            if missing:
                self.fetched[matrix] += 1
                if len(lines) == self.cache.lines // self.cache.sets:
                    evicted = lines.popitem(last=False)[0]
                lines[line] = None
            lines.move_to_end(line)
            if len(self.trace) < self.room:
                self.trace.append((matrix, row, col, line, int(missing), evicted))
        self.pending.clear()
        return self


def loop_accesses(order: str, M: int, N: int, K: int) -> Iterator[tuple[int, int, int]]:
    """Yield (matrix, row, col) of C(i, j) += A(i, k) * B(k, j) in loops of an order such as "ikj".

    >>> list(loop_accesses("ijk", 1, 1, 2))
    [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 1, 0), (2, 0, 0)]
    """
    if sorted(order) != ["i", "j", "k"]:
        raise CourseError(f"{order!r} is no order of the loops i, j, k")
    loop_of = [order.index(letter) for letter in "ijk"]
    last = [{"i": M, "j": N, "k": K}[letter] for letter in order]
    for steps in itertools.product(*map(range, last)):
        i, j, k = (steps[p] for p in loop_of)
        yield 0, i, k
        yield 1, k, j
        yield 2, i, j


def blocked_accesses(M: int, N: int, K: int, BI: int, BJ: int, BK: int) -> Iterator[tuple[int, int, int]]:
    """Yield the accesses of gemm_blocked: blocks in the order i, j, k, and within a block i, k, j."""
    for i0 in range(0, M, BI):
        for j0 in range(0, N, BJ):
            for k0 in range(0, K, BK):
                for i in range(i0, min(i0 + BI, M)):
                    for k in range(k0, min(k0 + BK, K)):
                        for j in range(j0, min(j0 + BJ, N)):
                            yield 0, i, k
                            yield 1, k, j
                            yield 2, i, j


def loop_steps(order: str, M: int, N: int, K: int) -> Steps:
    """Return arrays i, j, k: what `loop_accesses` walks through, all at once.

    >>> [x.tolist() for x in loop_steps("kij", 1, 2, 2)]
    [[0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    """
    size = {"i": M, "j": N, "k": K}
    walked = dict(zip(order, np.indices([size[letter] for letter in order]).reshape(3, -1), strict=True))
    return walked["i"], walked["j"], walked["k"]


def blocked_steps(M: int, N: int, K: int, BI: int, BJ: int, BK: int) -> Steps:
    """Return arrays i, j, k: what `blocked_accesses` walks through, all at once."""
    i, j, k = loop_steps("ikj", M, N, K)
    walk = np.lexsort((j, k, i, k // BK, j // BJ, i // BI))
    return i[walk], j[walk], k[walk]


def count_steps(steps: Steps, shapes: Sequence[Layout], itemsize: int, cache: CacheShape) -> list[int]:
    """Count the lines of C(i, j) += A(i, k) * B(k, j), some ten times faster than a `LineCounter` does it.

    A step that needs the same three lines as the one before changes nothing in the cache, and is left out.

    Parameters
    ----------
    steps : arrays i, j, k
    shapes, itemsize, cache
        As for `LineCounter`.

    Returns
    -------
    Lines fetched of A, B and C.

    >>> count_steps(loop_steps("ikj", 16, 16, 16), [(16, 16, 16)] * 3, 4, CacheShape())
    [16, 16, 16]
    """
    i, j, k = steps
    where = zip(((i, k), (k, j), (i, j)), shapes, first_lines(shapes, itemsize, cache.line), strict=True)
    lines = np.stack([first + (row * ld + col) * itemsize // cache.line for (row, col), (_, _, ld), first in where], axis=1)
    if cache.lines // cache.sets >= len(MATRICES):           # else one of the three may have pushed out another
        lines = lines[np.append(True, (lines[1:] != lines[:-1]).any(axis=1))]
    return np.bincount(_missed(lines.ravel(), cache) % len(MATRICES), minlength=len(MATRICES)).tolist()


def fetches(matrices: ArrayLike, lines: ArrayLike, cache: CacheShape) -> NDArray[np.bool_]:
    """Tell which accesses of a program fetch their line, as a `LineCounter` counts it for accesses that come one by one.

    Parameters
    ----------
    matrices, lines : int arrays
        Of each access, in the program's order: 0, 1 or 2, and the number of its line, counted through all matrices.

    >>> fetches(np.array([0, 1, 0, 1]), np.array([7, 9, 7, 8]), CacheShape()).tolist()
    [True, True, False, True]
    """
    whose, where = np.asarray(matrices), np.asarray(lines)
    group = _groups(whose)
    order = np.lexsort((whose, group))       # those that count as simultaneous: A before B before C
    table = np.full((group[-1] + 1, len(MATRICES)), -1)
    table[group, whose] = where
    new = np.ones(len(where), bool)
    if cache.lines // cache.sets >= len(MATRICES):           # a group that needs the lines of the one before changes nothing
        new = np.append(True, (table[1:] != table[:-1]).any(axis=1))[group]
    order = order[new[order]]
    found = np.zeros(len(where), bool)
    found[order[_missed(where[order], cache)]] = True
    return found


def _groups(matrices):
    """Return for each access the number of its group; a group ends before a matrix would come twice.

    >>> _groups(np.array([0, 1, 2, 1, 2, 2, 0])).tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """
    one, two, three = (np.append(matrices[n:], [-1] * n) for n in (0, 1, 2))
    length = np.where(one == two, 1, np.where((three == one) | (three == two), 2, 3)).tolist()
    starts, at = np.zeros(len(matrices), int), 0
    while at < len(length):
        starts[at] = 1
        at += length[at]
    return np.cumsum(starts) - 1


def _missed(lines, cache):
    """Return the positions of those lines that are not in the cache when their turn comes."""
    ways = cache.lines // cache.sets
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(cache.sets)]
    missed: list[int] = []
    for at, (line, where) in enumerate(zip(lines.tolist(), (lines % cache.sets).tolist(), strict=True)):
        held = sets[where]
        if line in held:
            held.move_to_end(line)
        else:
            missed.append(at)
            if len(held) == ways:
                held.popitem(last=False)
            held[line] = None
    return np.array(missed, int)
