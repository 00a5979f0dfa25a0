"""Exercise 01, "The triple loop": predict the lines of an order, write the order that streams rows, then a case that no order solves.

Cache lines per multiply-add, by hand. A line holds 16 floats. Part 2 counts them for M = 32, N = 128, K = 64 in a cache of 64 lines, which
holds a row of any matrix (8 lines at most) and a column of A or C (32 lines), but not a column of B and what comes between.

C = A B. `ijk`, the starter: each element of B is on a line of its own, 1; A and C are fetched once, 32 · 64 / 16 and 32 · 128 / 16 lines
for 32 · 128 · 64 multiply-adds, 1/2048 + 1/1024: 1.0015. `ikj`: B comes once for each row of C, 1/16, and A and C once: 0.0640.

C = A Bᵀ (variant b), B stored N × K. `ikj`, the starter, walks down B's column of 128 lines, 1, and in between the row of C leaves the
cache, 1/16; A comes once, 1/2048: 1.0630. `ijk`: B along its rows 1/16, A and C once: 0.0640.

C = Aᵀ Bᵀ for M = 64, N = 48, K = 40 in a cache of 32 lines: A(k, i) has its rows along i, B(j, k) along k, C(i, j) along j, so that the
innermost loop, whichever it is, walks down one column of 40 lines or more and along one row. `ijk`, the starter: A 1, B 1/16, and C once,
1/(16 · 40): 1.0641. With i in strips of 16, innermost, the 16 lines of C that a strip walks down stay in the cache for 16 neighbouring j.
A comes once for each j, 1/16; B once for each strip, 1/(16 · 16); C once, 1/(16 · 40): 0.0680.

When grading, lines are counted on one more input, so that an order chosen for one size does not pass. In part 2 its rows need not be whole
lines: one of 65 floats touches 5 lines on average, 0.0769 for each float, and with what the other two matrices add it is below 0.08. In part 3
they are whole, as a strip that begins within a line touches two.
"""

from course_lib.check.case import Case
from course_lib.check.loops import Loops
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.loops_spec import LINES, LoopsSpec, drawn_lines, lines_per_work, loop_cases
from course_lib.grading.judge.spec import Gate
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape

EXERCISE = "01_triple_loop"
CACHE, SMALL_CACHE = CacheShape(4096), CacheShape(2048)
DRAWN, DRAWN_SMALL = ((2, 3), (4, 7), (4, 6)), ((3, 5), (3, 4), (2, 4))         # lines along M, N, K of the grader's input
_INDICES = {"A": ("i", "k"), "B": ("k", "j"), "C": ("i", "j")}


def lines_of_order(order: str, per_line: int) -> float:
    """Return the lines that one turn of the innermost loop fetches, when the cache holds one line of each matrix.

    >>> lines_of_order("ijk", 16)
    1.0625
    """
    inner = order[-1]
    down, along = (sum(indices[axis] == inner for indices in _INDICES.values()) for axis in (0, 1))
    return down + along / per_line


def _guess(given, got):
    order, per_line = given
    inner = order[-1]
    for name, (row, col) in _INDICES.items():
        right, along = lines_of_order(order, per_line), 1 / per_line
        share = 1 if row == inner else along if col == inner else 0
        others = {"fetches nothing": 0, "walks along a row": along, "walks down a column": 1}
        for words, other in others.items():
            if other != share and isinstance(got, (int, float)) and abs(got - (right - share + other)) < 1e-9:
                return f"It is what comes out when {name}({row}, {col}) {words} as {inner} counts up"
    return f"The innermost loop of {order!r} is {inner}: which of A(i, k), B(k, j), C(i, j) have {inner} in them, and in which place?"


def _drawn(rng):
    return [(str(rng.choice(ORDERS)), int(per_line)) for per_line in rng.integers(2, 100, 4)]


def _loops(part, title, entry, sizes, drawn, cache, gate, transposed=""):
    return LoopsSpec(EXERCISE, part, title, entry, Loops(transposed), loop_cases, lambda tile: Case("counters", *sizes), cache,
                     (gate,), gate_drawn=drawn_lines(*drawn, whole=part == "strip"))


def _gate(limit, starter, achievable, advice):
    return Gate(LINES, lines_per_work, limit, starter, achievable, advice)


PARTS = (
    FunctionSpec(EXERCISE, "predict", "Part 1: what an order costs", "lines_per_multiply_add", ("order", "per_line"),
                 (*((order, 16) for order in ORDERS), ("jki", 8), ("ikj", 8), ("kji", 32)), _drawn, lines_of_order,
                 tolerance=1e-9, guess=_guess),
    _loops("stream", "Part 2: the order that streams rows", "streams", (32, 128, 64), DRAWN, CACHE,
           _gate(0.09, 1 + 1 / 2048 + 1 / 1024, 1 / 16 + 1 / 2048 + 1 / 1024, "Which loop walks along the rows of B and C?")),
    _loops("stream-b", "Part 2: the order that streams rows, A Bᵀ", "streams_bt", (32, 128, 64), DRAWN, CACHE,
           _gate(0.09, 1 + 1 / 16 + 1 / 2048, 1 / 16 + 1 / 2048 + 1 / 1024, "Which loop walks along the rows of A and B?"), transposed="B"),
    _loops("strip", "Part 3: when no order will do", "strips", (64, 48, 40), DRAWN_SMALL, SMALL_CACHE,
           _gate(0.13, 1 + 1 / 16 + 1 / 640, 1 / 16 + 1 / 256 + 1 / 640,
                 "No order of three loops helps: cut one of them into strips as long as a cache line"), transposed="AB"),
)
