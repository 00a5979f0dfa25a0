"""Exercise 18, "Repair a pipeline": a producer and two consumers, in bfloat16, with four mistakes in their barriers and waits.

The gate counts cycles of shared memory per cycle of the tensor cores. Shared memory gives 128 bytes per cycle, and the tensor cores of an
H100 make 2048 multiply-adds in bfloat16. A product of a warpgroup, 64 rows of A by n columns of B, 16 deep, reads 2 · 64 · 16 + 2 · 16 · n bytes and makes
64 · n · 16 multiply-adds, so the share is 16 · (2048 + 32 n) / (1024 n) = 32 / n + 0.5: 0.625 with 256 columns, 0.75 with 128, 1 with 64.
What lanes read and write in shared memory counts as well, a wavefront as a cycle. What the copies write does not.

The starter's order of things is the lesson's, with two consumers. It initialises `empty` for one arrival, announces half of B's bytes,
releases the stage of the products that have just begun, stores sums whose products are under way, and multiplies 128 columns at a time.

A kernel could leave products to the lanes, past shared memory, as the addresses of the matrices stand in their maps. So C must be 0 without the
products of warpgroups, and without the copies.
"""

from course_lib import simt
from course_lib.arch import BANK_BYTES, BANKS, TENSOR
from course_lib.check.case import Case, all_cases
from course_lib.check.operation import Tile
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import copied, products_on_tensor_cores
from course_lib.grading.judge.spec import Gate, Reading, Spec, tile_grid
from course_lib.run import counter_name
from course_lib.simt.host.counters import OPERAND_BYTES

EXERCISE = "18_roles"
TILE = {"BM": 128, "BN": 256, "BK": 64}
BOXES = ((64, 64), (64, 64))
THREADS, STAGE_BYTES, MOST_STAGES = 288, 2 * 64 * (128 + 256), 4
BYTES, MULTIPLY_ADDS = BANKS * BANK_BYTES, TENSOR[9, 0][1]      # per cycle: of shared memory, and of the tensor cores in bfloat16
BY_LANES = tuple(counter_name("wavefronts", kind) for kind in ("load", "store"))

WIDE = "Each product reads its rows of A again: multiply 256 columns of B at once, so that they are read once for all of them"


def shared_cycles(report: simt.Report, work: float) -> Reading:
    """Read the cycles that shared memory takes for what products and lanes ask of it, for each cycle of the tensor cores."""
    count, operands = report.counters, sum(report.counters[name] for name in OPERAND_BYTES)
    fronts = sum(count[name] for name in BY_LANES)
    cycles, arithmetic = operands / BYTES + fronts, work / MULTIPLY_ADDS
    shares = {line: total for line, values in report.lines.items()
              if (total := sum(values.get(name, 0) for name in OPERAND_BYTES) / BYTES + sum(values.get(name, 0) for name in BY_LANES))}
    return Reading(cycles / arithmetic, f"{cycles:.0f} cycles / {arithmetic:.0f} cycles", shares)


SHARED = Gate("cycles of shared memory per cycle of the tensor cores", shared_cycles, 0.7, None, 0.625, WIDE)


def ratio(columns: int) -> float:
    """Return the cycles of shared memory per cycle of the tensor cores of a product of 64 rows by so many columns.

    >>> ratio(128), ratio(256)
    (0.75, 0.625)
    """
    return 2 * 16 * (64 + columns) / BYTES / (64 * columns * 16 / MULTIPLY_ADDS)


def _guess(given: tuple, got: object) -> str:
    """Say which mistake gives this number."""
    columns, = given
    known = {0.5: "That is B alone: A's 64 rows are read from shared memory as well", ratio(columns) / 2: "An element has two bytes",
             1 / ratio(columns): "That is cycles of the tensor cores per cycle of shared memory",
             ratio(columns) - 0.5: "That is A alone: B is read from shared memory as well"}
    return next((says for value, says in known.items() if abs(got - value) < 1e-9), "") if isinstance(got, int | float) else ""


def _cases(tile: Tile) -> tuple[Case, ...]:
    """Return the usual inputs, the first one square, and two with so many steps that every stage is used several times."""
    return (Case("square", 192, 192, 192), *all_cases(TILE)[1:], Case("thirteen steps", 128, 256, 13 * 64),
            Case("many steps, and no whole tile", 131, 257, 9 * 64 + 5, 1.5, -0.5, 3))


def _drawn(tile, rng):
    for number, beta in enumerate((0.0, 0.5, -1.0), start=1):
        M, N, steps = int(rng.integers(1, 260)), int(rng.integers(1, 520)), int(rng.integers(5, 15))
        yield Case(f"drawn input {number}", M, N, 64 * steps - int(rng.integers(0, 64)), float(rng.choice((0.5, 1.0, -2.0))), beta,
                   int(rng.integers(0, 9)))


def _counted(tile, rng):
    """Return another input for the gate: whole tiles, of another number along each axis."""
    rows, cols = (int(number) for number in rng.integers(1, 3, 2))
    return Case("counters, of a drawn size", rows * TILE["BM"], cols * TILE["BN"], 64 * int(rng.integers(6, 12)), alpha=float(rng.uniform(0.5, 2)))


PARTS = (
    FunctionSpec(EXERCISE, "ratio", "Part 1: cycles of shared memory for a product", "ratio", ("columns",), ((256,), (128,), (64,), (8,)),
                 lambda rng: [(8 * int(n),) for n in rng.integers(2, 32, 5)], ratio, tolerance=1e-9, guess=_guess),
    Spec(EXERCISE, "main", "Part 2: repair a pipeline", "pipeline", Sgemm(inputs="bf16", stored="bf16", boxes=BOXES), (),
         grid=lambda case, tile: tile_grid(case, TILE), block=lambda tile: (THREADS, 1, 1), cases=_cases, drawn=_drawn,
         gate_case=lambda tile: Case("counters", TILE["BM"], TILE["BN"], 8 * TILE["BK"]), gate_drawn=_counted, gates=(SHARED,),
         dynamic_shared=lambda tile: MOST_STAGES * STAGE_BYTES, made_of=(products_on_tensor_cores, copied)),
)
