"""Check what the reader gives to `run`, and lay it out as the device will see it."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import gpu
from course_lib.errors import CourseError
from course_lib.kernels.kernel import ceil_div
from course_lib.model.number_formats import BITS, QUIET_NAN, scaled_parts
from course_lib.run.types import Argument, Array
from course_lib.tensor_maps import TensorMap
from course_lib.unwritten import is_unwritten, missing

MOST_ELEMENTS = 2**31 - 1      # the kernels index a matrix with int
WHOLE_ROWS, PAIRS = 8, 2       # elements of which rows are multiples where tensor maps fetch bfloat16, and where C is stored in pairs
Boxes = tuple[tuple[int, int], ...]
BY_COLUMNS = ("e4m3",)         # formats in which B's columns lie one behind the other


@dataclass(frozen=True)
class Matrix:
    """A matrix as a kernel gets it.

    Attributes
    ----------
    ld
        Leading dimension: elements from the start of one row to the start of the next.
    buffer
        (rows - 1) * ld + cols elements; those between the rows are NaN, so that a kernel which reads them is found out.
    parts
        Matrices of which this one is the sum, where a kernel wants it so; they lie one behind the other, each in rows * ld elements.
    """

    name: str
    rows: int
    cols: int
    ld: int
    buffer: np.ndarray
    parts: int = 1

    def view(self, buffer: np.ndarray | None = None) -> np.ndarray:
        """Return the rows × cols elements of a buffer laid out like this one."""
        buffer = self.buffer if buffer is None else buffer
        step = buffer.itemsize
        several = self.parts > 1
        return np.lib.stride_tricks.as_strided(buffer, ((self.parts,) if several else ()) + (self.rows, self.cols),
                                               ((self.rows * self.ld * step,) if several else ()) + (self.ld * step, step))

    def map(self, buffer: np.ndarray, box: tuple[int, int]) -> TensorMap:
        """Return the tensor map of a buffer of bits laid out like this one; a box is taken of all parts."""
        return factor_map(self.view(buffer), box)

    def stray(self, buffer: np.ndarray) -> int:
        """Count the elements between the rows that are no longer NaN."""
        if not np.issubdtype(buffer.dtype, np.floating):
            return 0                           # it is stored by a tensor map, which knows where rows end
        padding = np.ones(len(buffer), bool)
        self.view(padding)[...] = False
        return int(np.count_nonzero(~np.isnan(buffer[padding])))


@dataclass(frozen=True)
class Problem:
    """C = alpha A B + beta C, checked.

    `cupy` says whether the reader gave CuPy arrays and gets one back; `column` that elements of a column are
    neighbours: each `Matrix` then is the transposed one, its leading dimension goes from column to column; `split` that the kernel gets A
    and B in three parts, too.
    """

    M: int
    N: int
    K: int
    A: Matrix
    B: Matrix
    C: Matrix
    alpha: np.floating
    beta: np.floating
    cupy: bool
    column: bool = False
    boxes: Boxes | None = None
    split: bool = False

    def arguments(self, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> tuple[Argument, ...]:
        """Return SGEMM's arguments, in order, for three buffers; with boxes a tensor map stands for a matrix and its leading dimension."""
        if self.boxes and self.split:
            return self._with_parts(A, B, C)
        if self.boxes:
            maps = [matrix.map(buffer, box) for matrix, buffer, box in zip((self.A, self.B, self.C), (A, B, C), self.boxes, strict=False)]
            if len(maps) == 3:
                return (np.int32(self.M), np.int32(self.N), np.int32(self.K), self.alpha, *maps)
            return (np.int32(self.M), np.int32(self.N), np.int32(self.K), self.alpha, *maps, self.beta, C, np.int32(self.C.ld))
        return (np.int32(self.M), np.int32(self.N), np.int32(self.K), self.alpha, A, np.int32(self.A.ld),
                B, np.int32(self.B.ld), self.beta, C, np.int32(self.C.ld))

    def _with_parts(self, A, B, C):
        """Return the arguments of a kernel that multiplies parts, and has A and B for rows and columns that cannot be split."""
        assert self.boxes
        maps, (a_shifts, b_shifts) = split_factors(self.A.view(A), self.B.view(B), self.boxes)
        return (np.int32(self.M), np.int32(self.N), np.int32(self.K), self.alpha, *maps, self.beta, C, np.int32(self.C.ld),
                a_shifts, b_shifts, A, np.int32(self.A.ld), B, np.int32(self.B.ld))


def problem(A: Array, B: Array, C: Array | None = None, alpha: float = 1.0, beta: float = 0.0, dtype: str = "float32",
            transposed: tuple[bool, bool] = (False, False), layout: str = "row", stored: str = "", boxes: Boxes | None = None,
            result: str = "") -> Problem:
    """Check matrices and numbers, and copy them into buffers of the device's layout.

    Parameters
    ----------
    A, B, C
        (M, K), (K, N), (M, N) arrays of `dtype`, NumPy or CuPy; rows may be padded (slices of wider arrays),
        elements of a row must be neighbours.
        C may be left out when beta is 0.
    transposed
        Whether A is given transposed, as (K, M), and B as (N, K).
    layout
        How the kernel wants them, "row" or "column"; a matrix that is not laid out so is copied.
    stored
        `Kernel.stored`: the format in which the kernel wants A and B. They are given as its bits, or in float32 and rounded here.
    boxes
        `Kernel.boxes`: where a kernel wants tensor maps, rows of A and B are made multiples of 16 bytes, and those of C of 8.
    result
        `Kernel.result`: the format in which C is stored; then alpha A B is computed and no C is given.

    Returns
    -------
    Problem
        C's buffer starts as the given C, or as NaN when none is given.

    Raises
    ------
    CourseError
        One sentence that names the value and what would be right.
    """
    split = stored == "bf16x3"
    named = {"A": A, "B": B} | ({} if C is None else {"C": C})
    column = layout == "column"
    for name, array in named.items():
        _check_kind(name, array, np.dtype(dtype), stored if name in "AB" else "")
        named[name] = by_columns(array).T if column or name == "B" and stored in BY_COLUMNS else array
        _check_strides(name, named[name])
    if result and (C is not None or beta != 0):
        raise CourseError(f"this kernel stores alpha A B as {BITS[result].name} and adds nothing to it: give no C, and leave beta at 0")
    (M, K), (inner, N) = (array.shape[::-1] if transpose else array.shape for array, transpose in zip((A, B), transposed, strict=True))
    if inner != K:
        raise CourseError(f"A is {M} × {K} and B is {inner} × {N}{' once transposed' if any(transposed) else ''}: "
                          f"B must have as many rows as A has columns, {K}")
    if C is not None and C.shape != (M, N):
        raise CourseError(f"C is {C.shape[0]} × {C.shape[1]}, but A ({M} × {K}) times B ({K} × {N}) is {M} × {N}")
    factor, addend = number("alpha", alpha, np.dtype(dtype)), number("beta", beta, np.dtype(dtype))
    if C is None and addend != 0:
        raise CourseError(f"beta = {addend} adds to C, but no C is given: give C, or leave beta at 0")
    if C is None:
        rows, cols = (N, M) if column else (M, N)
        _check_size("C", rows, cols, cols)
        multiple = BITS[result].whole_rows if result else PAIRS if boxes else 1
        ld = ceil_div(cols, multiple) * multiple
        values = (BITS[result].nan, BITS[result].dtype) if result else (np.nan, dtype)
        answer = Matrix("C", rows, cols, ld, np.full((rows - 1) * ld + cols, *values))
    else:
        answer = matrix("C", named["C"], multiple=PAIRS if boxes else 1)
    cupy = any(map(gpu.is_cupy, named.values()))
    stored = stored if stored in BITS else ""
    multiple = BITS[stored].whole_rows if boxes and stored else 1
    factors = matrix("A", named["A"], stored, multiple), matrix("B", named["B"], stored, multiple)
    return Problem(M, N, K, *factors, answer, factor, addend, cupy, column, boxes, split)


def by_columns(array: Array) -> Array:
    """Return an array with neighbouring elements in its columns: the same one when it has, else a copy."""
    rows, cols = array.shape
    across, along = array.strides
    fits = (rows == 1 or across == array.itemsize) and (cols == 1 or along >= rows * array.itemsize) and (rows > 1 or cols > 1)
    return array if fits else array.copy(order="F")


def split_factors(A: NDArray[np.float32], B: NDArray[np.float32], boxes: Boxes) -> tuple[list[TensorMap], list[NDArray[np.int32]]]:
    """Return tensor maps of the three parts of A and B, and by which powers of two their rows, or columns, were scaled before."""
    (a, a_shifts), (b, b_shifts) = scaled_parts(A, 1), scaled_parts(B, 0)
    return [factor_map(aligned_rows(x), box) for x, box in zip((a, b), boxes, strict=True)], [a_shifts, b_shifts]


def factor_map(array: Array, box: tuple[int, int]) -> TensorMap:
    """Return the tensor map of a matrix of bits on either side, or of several along a first axis, whose boxes are taken together."""
    return TensorMap(array, (*array.shape[:-2], *box), swizzle=128, promotion=128, element="bf16" if array.dtype == np.uint16 else "")


def aligned_rows(bits: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return bits of bfloat16 in rows that begin at multiples of 16 bytes; what lies between them is NaN."""
    cols = bits.shape[-1]
    room = np.full((*bits.shape[:-1], ceil_div(cols, WHOLE_ROWS) * WHOLE_ROWS), QUIET_NAN)
    room[..., :cols] = bits
    return room[..., :cols]


def check_array(name: str, array: Array, dtype: np.dtype) -> None:
    """Refuse what is not a matrix of this type with neighbouring elements in its rows."""
    _check_kind(name, array, dtype)
    _check_strides(name, array)


def _check_kind(name: str, array: Array, dtype: np.dtype, stored: str = "") -> None:
    if is_unwritten(array):
        raise missing(array)
    if not isinstance(array, np.ndarray) and not gpu.is_cupy(array):
        raise CourseError(f"{name} is a {type(array).__name__}, not a NumPy or CuPy array: "
                          f"make one with np.array({name}, dtype=np.{dtype})")
    bits = BITS.get(stored)
    if bits and array.dtype not in (dtype, bits.dtype):
        raise CourseError(f"{name} is {array.dtype}, but this kernel multiplies {bits.name}: give float32, which is rounded to it, or its "
                          f"bits as {np.dtype(bits.dtype)}, {bits.make.__name__}({name})")
    if not bits and array.dtype != dtype:
        raise CourseError(f"{name} is {array.dtype}, but this kernel computes in {dtype}: "
                          f"convert it with {name}.astype(np.{dtype})")
    if array.ndim != 2:
        raise CourseError(f"{name} has {array.ndim} dimension{'s' * (array.ndim != 1)}, shape {array.shape}: "
                          "a matrix has two")
    if 0 in array.shape:
        raise CourseError(f"{name} is {array.shape[0]} × {array.shape[1]}: "
                          "a matrix needs at least one row and one column")


def _check_strides(name: str, array: Array) -> None:
    rows, cols = array.shape
    across, along = array.strides
    step = array.itemsize
    repair = f"give np.ascontiguousarray({name})" if not gpu.is_cupy(array) else f"give cupy.ascontiguousarray({name})"
    if cols > 1 and along != step:
        raise CourseError(f"neighbours in a row of {name} lie {along} bytes apart, not {step}: "
                          f"is it a transposed or strided view? {repair}")
    if rows > 1 and across < cols * step:
        raise CourseError(f"rows of {name} begin {across} bytes apart, but each takes {cols * step} bytes: {repair}")
    if rows > 1 and across % step:
        raise CourseError(f"rows of {name} begin {across} bytes apart, no multiple of {step}: {repair}")
    _check_size(name, rows, cols, _leading(array))


def _check_size(name: str, rows: int, cols: int, ld: int) -> None:
    if (rows - 1) * ld + cols > MOST_ELEMENTS:
        raise CourseError(f"{name} spans {(rows - 1) * ld + cols} elements, rows and padding together, "
                          f"but the kernels index at most {MOST_ELEMENTS}: take a smaller one")


def _leading(array: Array) -> int:
    rows, cols = array.shape
    return array.strides[0] // array.itemsize if rows > 1 else cols


def contiguous(name: str, array: Any, dimensions: int) -> NDArray[np.float32]:
    """Return a NumPy array of float32 without gaps, or refuse what is not one of one or two dimensions, and what is empty."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != dimensions or 0 in array.shape:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise CourseError(f"{name} is {what}, but a {('one', 'two')[dimensions - 1]}-dimensional NumPy array of float32 is wanted")
    return np.ascontiguousarray(array)


def matrix(name: str, array: Array, stored: str = "", multiple: int = 1) -> Matrix:
    """Return a matrix in a buffer of the device's layout, in the format `stored`; what lies between its rows becomes NaN.

    `multiple`: elements of which the leading dimension is a multiple, made larger where it must be.
    """
    (rows, cols), ld, values = array.shape, ceil_div(_leading(array), multiple) * multiple, gpu.to_host(array)
    if stored and values.dtype != BITS[stored].dtype:
        values = BITS[stored].make(values)
    buffer = np.full((rows - 1) * ld + cols, BITS[stored].nan if stored else np.nan, values.dtype)
    made = Matrix(name, rows, cols, ld, buffer)
    made.view()[...] = values
    return made


def number(name: str, value: float, dtype: np.dtype) -> np.floating:
    """Return a real number rounded to `dtype`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise CourseError(f"{name} = {value!r} is a {type(value).__name__}, not a real number")
    try:
        exact = float(value)
    except OverflowError:
        exact = 1e308 if value > 0 else -1e308      # a whole number beyond every float
    with np.errstate(over="ignore"):
        rounded = dtype.type(exact)
    if np.isinf(rounded) and not math.isinf(exact):
        largest = float(np.finfo(dtype).max)
        raise CourseError(f"{name} = {exact:.3g} is too large for {dtype}: the largest is {largest:.2e}")
    return rounded
