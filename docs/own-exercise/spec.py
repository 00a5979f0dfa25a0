"""Exercise 50, "Two rows a thread": each element of B that a thread loads serves two rows of C.

Load requests per multiply-add, by hand. For one k a warp of 32 neighbours in a row of C makes 32 multiply-adds. Row by row it makes 2
requests for them, one to A and one to B: 2 / 32 = 0.0625. For two rows together it makes 2 to A and 1 to B: 3 / 64 = 0.0469.
"""

from course_lib.check.case import Case, all_cases
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.spec import REQUESTS_LOADED, Gate, Spec, per_work, tile_grid

EXERCISE = "50_two_rows"
TILE = {"BM": 16, "BN": 32, "BK": 16}         # what a block computes; BK is for the sizes of the inputs alone


def requests(rows: int) -> float:
    """Return load requests per multiply-add: for one k, one to A for each row, one to B, and 32 multiply-adds a row."""
    return (rows + 1) / (32 * rows)


def mistake(arguments: tuple[int], got: float) -> str:
    """Name the mistake behind a wrong number."""
    rows, = arguments
    return "That is for a warp that loads B again for each row" if rows > 1 and got == 2 / 32 else ""


REQUESTS = Gate("load requests per multiply-add", per_work(REQUESTS_LOADED), limit=0.05, starter=2 / 32, achievable=3 / 64,
                advice="Load B's element once for each k, and use it for both rows")

PARTS = (
    FunctionSpec(EXERCISE, "count", "Part 1: count the requests", "requests", ("rows",), cases=((1,), (2,), (8,)),
                 drawn=lambda rng: [(int(n),) for n in rng.integers(3, 100, 4)], expected=requests, tolerance=1e-9, guess=mistake),
    Spec(EXERCISE, "main", "Part 2: two rows a thread", "two_rows", Sgemm(), (),
         grid=lambda case, tile: tile_grid(case, TILE), block=lambda tile: (32, 8, 1), cases=lambda tile: all_cases(TILE),
         drawn=lambda tile, rng: [Case("drawn", *map(int, rng.integers(1, 70, 3)), alpha=1.5, beta=beta, pad=3) for beta in (0.0, 0.5)],
         gate_case=lambda tile: Case("counters", 64, 64, 64), gates=(REQUESTS,)),
)
