"""Arrays as CuPy has them, in the simulator's memory: made, copied to NumPy, indexed; nothing is computed with them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from course_lib.errors import CourseError
from course_lib.unwritten import is_unwritten, missing

KINDS = "biufc"            # of NumPy's types, those that CuPy has
ORDERS = ("C", "F")
Shape: TypeAlias = int | Sequence[int]
Order: TypeAlias = Literal["C", "F"]


class NotCovered(CourseError, AttributeError):
    """CuPy has it, the stand-in does not."""


class ndarray:                               # noqa: N801 (CuPy's name)
    """An array that a kernel can read and write. It behaves as `cupy.ndarray` as far as it goes, and refuses the rest by name.

    Attributes
    ----------
    shape, dtype, ndim, size, itemsize, nbytes, strides, flags
        As NumPy's.
    """

    __array_ufunc__ = None                   # NumPy's operators come to ours, below
    __hash__ = None                          # type: ignore[assignment]    # as CuPy's, which cannot be hashed

    def __init__(self, host: np.ndarray):
        self._host = host

    def get(self) -> np.ndarray:
        """Return a copy of the array as NumPy's, by rows."""
        return self._host.copy()

    def set(self, values: np.ndarray) -> None:
        """Copy a NumPy array of the same shape and type into this one."""
        given: Any = values
        if not isinstance(given, np.ndarray) or (given.shape, given.dtype) != (self.shape, self.dtype):
            raise CourseError(f"set takes a NumPy array of shape {self.shape} and type {self.dtype}, like the array that it fills")
        self._host[...] = values

    def fill(self, value: Any) -> None:
        """Set every element to one number."""
        self._host[...] = value

    def item(self) -> Any:
        """Return the one element of an array of size one as Python's number."""
        return self._host.item()

    def copy(self) -> "ndarray":
        """Return a copy, by rows."""
        return ndarray(self._host.copy())

    def astype(self, dtype: DTypeLike) -> "ndarray":
        """Return a copy of another type."""
        return ndarray(self._host.astype(kind(dtype)))

    def __getitem__(self, index: Any) -> "ndarray":
        return ndarray(self._host[index] if isinstance(self._host[index], np.ndarray) else np.array(self._host[index]))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise CourseError("an element of an array on the GPU takes a number or such an array; copy a NumPy array there with cp.asarray")
        self._host[index] = value._host if isinstance(value, ndarray) else value

    def __len__(self) -> int:
        return len(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __repr__(self) -> str:
        return repr(self._host)

    def __format__(self, spec: str) -> str:
        return format(self.item() if spec else self._host, spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise CourseError("NumPy cannot read an array that is in the GPU's memory: copy it with x.get() or cp.asnumpy(x)")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags"):
            return getattr(self._host, name)
        raise NotCovered(f".{name} of an array needs a GPU and CuPy: copy it to NumPy with .get(), and take .{name} there", wanted=name)


def _refuse(symbol: str) -> Callable[..., Any]:
    def operator(self, *others):
        raise CourseError(f"`{symbol}` on arrays in the GPU's memory needs a GPU: copy them to NumPy with .get() and compute there")
    return operator


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "abs": "abs", "bool": "if"}
for _name, _symbol in [*_OPERATORS.items(), *_COMPARED.items()]:
    for _form in ("", "r", "i") if _name in _OPERATORS else ("",):
        setattr(ndarray, f"__{_form}{_name}__", _refuse(_symbol))


def kind(dtype: DTypeLike) -> np.dtype:
    """Return a number type, or refuse what no array on a GPU can hold."""
    found = np.dtype(dtype)
    if found.kind not in KINDS:
        raise CourseError(f"an array on the GPU holds numbers, not {found}: give dtype=np.float32, say", dtype=found)
    return found


def asarray(a: ArrayLike | ndarray, dtype: DTypeLike | None = None) -> ndarray:
    """Copy a NumPy array, a list or a number to the GPU; an array that is there stays as it is, unless it changes its type.

    A NumPy array keeps its type, and its columns' order when it is stored by columns (a transposed one, say).
    """
    if is_unwritten(a):
        raise missing(a)
    if isinstance(a, ndarray):
        return a if dtype is None or np.dtype(dtype) == a.dtype else a.astype(dtype)
    host = np.asarray(a)
    by_columns = host.flags.f_contiguous and not host.flags.c_contiguous
    return ndarray(np.array(host, dtype=kind(host.dtype if dtype is None else dtype), order="F" if by_columns else "C"))


def asnumpy(a: Any) -> np.ndarray:
    """Return an array as NumPy's: a copy of one on the GPU, and anything else as `numpy.asarray` has it."""
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def zeros(shape: Shape, dtype: DTypeLike = float, order: Order = "C") -> ndarray:
    """Return an array of zeros; without a type it holds float64, as NumPy's."""
    return full(shape, 0, dtype, order)


def empty(shape: Shape, dtype: DTypeLike = float, order: Order = "C") -> ndarray:
    """Return an array of whatever was in memory: here NaN, or the largest whole number, so that what nobody wrote shows."""
    found = kind(dtype)
    garbage = np.nan if found.kind in "fc" else np.iinfo(found).max if found.kind in "iu" else True
    return full(shape, garbage, found, order)


def full(shape: Shape, fill_value: Any, dtype: DTypeLike | None = None, order: Order = "C") -> ndarray:
    """Return an array filled with one number; without a type, of that number's."""
    if order not in ORDERS:
        raise CourseError(f'order is {order!r}; it must be "C", by rows, or "F", by columns', order=order)
    value = fill_value.item() if isinstance(fill_value, ndarray) else fill_value
    return ndarray(np.full(shape, value, kind(np.asarray(value).dtype if dtype is None else dtype), order))
