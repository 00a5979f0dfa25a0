"""What a kernel is checked as: a product or a transposition, with its inputs, its launch, and where a wrong element lies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course_lib.check import case as products
from course_lib.check import transpose
from course_lib.check.operation import Operation
from course_lib.check.product_trial import gap
from course_lib.check.sgemm import Sgemm
from course_lib.check.transpose import Transpose
from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.kernels.user import written_values


@dataclass(frozen=True)
class CheckTask:
    """What a check needs to know of a kernel's work.

    `shape` gives a case's rows and columns of what the grid covers, and K; `target` names the result, `width` says how far apart its rows
    begin in a case. `tile` is what a block computes, None where nothing is loaded twice.
    """

    operation: Operation
    cases: Callable[..., Any]
    gate_case: Callable[..., Any]
    tile: dict[str, int]
    shape: Callable[[Any], tuple[int, int, int]]
    target: str
    width: Callable[[Any], int]
    reuses: bool = True


def task_of(kernel: Kernel, values: dict[str, int], *, whole_tiles: bool = False) -> CheckTask:
    """Return what a kernel is checked as.

    Raises
    ------
    CourseError
        For a kernel that computes neither a row-major product nor a transposition, and, where it fetches its factors by no tensor maps, one
        whose blocks ask for memory at launch, or whose factors are stored as bfloat16.
    """
    if kernel.kind == "transpose":
        return CheckTask(Transpose(), transpose.whole_tile_cases if whole_tiles else transpose.all_cases, transpose.gate_case, dict(values),
                    lambda case: (case.rows, case.cols, 1), "out", lambda case: case.rows + case.pad, reuses=False)
    plain = (kernel.kind, kernel.layout) == ("product", "row") and not values.get("TRANSA") and not values.get("TRANSB")
    if not plain or not kernel.boxes and (kernel.stored or kernel.dynamic_of(values)):
        raise CourseError(f"{kernel.name} is not checked: only kernels for C = alpha A B + beta C with row-major matrices of one type, "
                          "and without shared memory asked for at launch, are, those that fetch A and B by tensor maps, and those that "
                          "transpose a matrix", kernel=kernel.name)
    cases = products.whole_tile_cases if whole_tiles else products.all_cases
    operation = Sgemm(inputs=kernel.inputs, dtype=kernel.dtype, stored=kernel.stored if kernel.boxes else "", boxes=kernel.boxes)
    return CheckTask(operation, cases, products.gate_case, tile_of(kernel, values), lambda case: (case.M, case.N, case.K), "C",
                     lambda case: case.N + gap(case, "C", kernel.boxes))


def tile_of(kernel: Kernel, values: dict[str, int]) -> dict[str, int]:
    """Return the outputs of a block and the depth of its tiles as BM, BN, BK; BK is 1 where there is none.

    >>> from course_lib import kernels
    >>> tile_of(kernels.get("sgemm_naive"), {"bx": 32, "by": 4})
    {'BM': 4, 'BN': 32, 'BK': 1}
    """
    if kernel.boxes:
        (rows, depth), _ = kernel.boxes          # a block's tile of A is one box
        return {"BM": rows, "BN": values.get("BN") or written_values(kernel.source)["BN"], "BK": depth}
    depth = next((values[name] for name in ("BK", "TW", "TILE") if name in values), 1)
    if {"BM", "BN"} <= values.keys():            # a grid of any number of blocks may share out such tiles
        return {"BM": values["BM"], "BN": values["BN"], "BK": depth}
    gx, gy, _ = kernel.grid(1 << 12, 1 << 12, **values)
    return {"BM": (1 << 12) // gy or 1, "BN": (1 << 12) // gx or 1, "BK": depth}
