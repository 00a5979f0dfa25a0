"""Choose the kernel for a product by its shape: one of the two that share out steps of tiles, its tile, and how many blocks.

The table (`data/choices.json`) holds for each tile what one of each `cost_terms` takes, and which products were tuned. A product of the
table gets what was fastest there; every other one gets the tile and the blocks for which the sum of these terms is least.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, Device
from course_lib.data.readings import Readings
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.kernels.stages import widest
from course_lib.model.busiest_work import cost_terms
from course_lib.model.stream_k import block_counts, sharing
from course_lib.run.product import run
from course_lib.run.result import RunResult
from course_lib.run.types import Array

KERNELS = {"float32": "sgemm_stream_k", "float64": "dgemm_stream_k"}
MOST_WORKSPACE = 2**29         # bytes for the sums of parts of tiles, which every block of the grid has a place for
PRODUCT = ("dtype", "M", "N", "K", "TRANSA", "TRANSB", "WIDE")        # what tells products apart
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Choice:
    """A kernel with all its parameters for one product.

    Attributes
    ----------
    seconds
        What the product takes on the device of the table: measured where `tuned`, else estimated.
    tuned
        Whether the table has this very product.
    """

    kernel: str
    parameters: dict[str, int]
    seconds: float
    tuned: bool

    def __str__(self):
        """Return the choice on one line."""
        values = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.kernel} {values}: {1e6 * self.seconds:.1f} µs {'measured' if self.tuned else 'estimated'}"


def choose(M: int, N: int | None = None, K: int | None = None, dtype: str = "float32", transa: bool = False, transb: bool = False,
           aligned: bool = True, *, table: Readings | None = None, on: Device = DEFAULT_DEVICE) -> Choice:
    """Choose kernel and parameters for C = op(A) op(B), with op(A) M × K and op(B) K × N.

    Parameters
    ----------
    M, N, K
        N and K are as M where they are not given.
    dtype
        "float32" or "float64".
    transa, transb
        Whether A is stored as (K, M), and B as (N, K).
    aligned
        Whether A, B, C and their rows begin at multiples of 16 bytes. For matrices without padding True is right: the sizes tell the rest.
    table
        Default: what the course carries. Your own GPU's is made by `python -m course_lib.bench shapes` and `bench.choices.choices_of`.
    on
        The device for whose multiprocessors blocks are counted.

    Raises
    ------
    CourseError
        For a size that is no whole number from 1 to 2^31 - 1, or another element type.

    >>> found = choose(1000, 500, 300)
    >>> found.kernel, found.parameters["WIDE"], choose(1000, 500, 301).parameters["WIDE"]
    ('sgemm_stream_k', 4, 1)
    """
    sizes = _checked(M, M if N is None else N, M if K is None else K)
    if dtype not in KERNELS:
        raise CourseError(f"dtype = {dtype!r}: there are kernels for {' and '.join(KERNELS)}", dtype=dtype)
    kernel = get(KERNELS[dtype])
    transposed = bool(transa), bool(transb)
    fixed = {"WIDE": widest(kernel, sizes, transposed, aligned), "TRANSA": int(transposed[0]), "TRANSB": int(transposed[1])}
    tiles, products = _rows(table)
    if found := products.get((dtype, *sizes, fixed["TRANSA"], fixed["TRANSB"], fixed["WIDE"])):
        tile = next(row["parameters"] for row in tiles[dtype] if row["tile"] == found["tile"])
        return Choice(kernel.name, {**tile, **fixed, "blocks": found["blocks"]}, found["seconds"], True)
    options = (option for row in tiles[dtype] for option in _options(row, sizes, fixed, on))
    seconds, parameters = min(options, key=lambda option: option[0])
    return Choice(kernel.name, parameters, seconds, False)


def run_chosen(A: Array, B: Array, C: Array | None = None, *, transa: bool = False, transb: bool = False, table: Readings | None = None,
               **options: Any) -> RunResult:
    """Compute C = alpha op(A) op(B) + beta C with the kernel that `choose` chooses for these matrices.

    Parameters
    ----------
    A, B, C
        As for `run`, of float32 or float64.
    transa, transb, table
        As for `choose`.
    **options
        As for `run`, but for parameters of a kernel.

    Returns
    -------
    RunResult
        Its `kernel` and `parameters` tell what was chosen.

    Raises
    ------
    CourseError
        As `choose` and `run`.
    """
    shapes = [tuple(getattr(X, "shape", ())) for X in (A, B)]
    if any(len(shape) != 2 for shape in shapes):
        raise CourseError("A and B are two-dimensional arrays: (M, K) and (K, N), or transposed (K, M) and (N, K)")
    (M, K), (_, N) = (shape[::-1] if turn else shape for shape, turn in zip(shapes, (transa, transb), strict=True))
    aligned = all(X.strides[0] % 16 == 0 for X in (A, B, C) if X is not None and X.shape[0] > 1)
    choice = choose(M, N, K, str(A.dtype), transa, transb, aligned, table=table)
    return run(choice.kernel, A, B, C, **(options | choice.parameters))


def estimates(sizes: tuple[int, int, int], dtype: str, fixed: Mapping[str, int], table: Readings | None = None,
              on: Device = DEFAULT_DEVICE) -> list[tuple[float, dict[str, int]]]:
    """Return (estimated seconds, parameters) of everything that `choose` looks at for a product; `fixed`: WIDE, TRANSA and TRANSB."""
    return [option for row in _rows(table)[0][dtype] for option in _options(row, sizes, fixed, on)]


def cost_names(fixed: Mapping[str, int]) -> dict[str, str]:
    """Return by which name a tile's table has the cost of a term.

    A step takes longer when operands are transposed or copies narrow, and a piece when copies and stores are narrow.

    >>> found = cost_names({"TRANSA": 0, "TRANSB": 1, "WIDE": 4})
    >>> found["busy"], found["pieces"]
    ('busy NT wide', 'pieces wide')
    """
    operands, width = "".join("NT"[fixed[name]] for name in ("TRANSA", "TRANSB")), "wide" if fixed["WIDE"] > 1 else "narrow"
    return {"launch": "launch", "busy": f"busy {operands} {width}", "alone": "alone", "pieces": f"pieces {width}",
            "pieces alone": "pieces alone", "joined": "joined"}


def _options(row: Row, sizes: tuple[int, int, int], fixed: Mapping[str, int], on: Device) -> Iterator[tuple[float, dict[str, int]]]:
    """Yield (estimated seconds, parameters) for the numbers of blocks that are worth a try with a tile."""
    p, names, costs = row["parameters"], cost_names(fixed), row["costs"]
    shape, kernel = (p["BM"], p["BN"], p["BK"]), get(row["kernel"])
    for blocks in block_counts(*sizes, shape, p["RESIDENT"], on.sms):
        parameters = {**p, **fixed, "blocks": blocks}
        if blocks * p["BM"] * p["BN"] * np.dtype(kernel.dtype).itemsize <= MOST_WORKSPACE and not kernel.problems(**parameters):
            terms = cost_terms(sharing(*sizes, shape, blocks), p["RESIDENT"], on.sms)
            yield sum(costs[names[name]] * count for name, count in terms.items()), parameters


def _rows(table: Readings | None) -> tuple[dict[str, list[Row]], dict[tuple[Any, ...], Row]]:
    """Return the tiles of each element type, and the products by what tells them apart."""
    return _carried() if table is None else _sorted(table)


@cache
def _carried() -> tuple[dict[str, list[Row]], dict[tuple[Any, ...], Row]]:
    return _sorted(data.readings("choices"))


def _sorted(table: Readings) -> tuple[dict[str, list[Row]], dict[tuple[Any, ...], Row]]:
    tiles: dict[str, list[Row]] = {dtype: list(table.find(kind="tile", dtype=dtype)) for dtype in KERNELS}
    return tiles, {tuple(row[name] for name in PRODUCT): row for row in table.find(kind="product")}


def _checked(*sizes: Any) -> tuple[int, int, int]:
    """Return M, N and K as plain ints."""
    for name, value in zip("MNK", sizes, strict=True):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value < 2**31:
            raise CourseError(f"{name} = {value!r}: a size is a whole number from 1 to 2147483647", name=name, value=value)
    M, N, K = (int(value) for value in sizes)
    return M, N, K
