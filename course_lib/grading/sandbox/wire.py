"""Messages between the grader and its sandbox: a JSON text and the bytes of arrays, nothing that could run when it is read.

A message is two lengths (of the JSON text, of the bytes behind it), then both. The grader knows beforehand how many bytes an answer
may have, and reads no other number.
"""

import dataclasses
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.tensor_maps import TensorMap

HEAD = struct.Struct("<II")
MOST_TEXT = 4 << 20          # bytes of the JSON text of an answer
MOST_TRACE = 64 << 20        # when a trace was asked for
_KINDS = "biufc"


def pack(message: dict, raw: bytes = b"") -> bytes:
    """Return the bytes of a message.

    >>> HEAD.unpack(pack({"a": 1}, b"xy")[:HEAD.size])
    (7, 2)
    """
    text = json.dumps(message, separators=(",", ":")).encode()
    return HEAD.pack(len(text), len(raw)) + text + raw


def encoded(value: object, arrays: list[np.ndarray]) -> object:
    """Return a value as JSON knows it; arrays go to the list `arrays`, each once, so that two names of one array stay that.

    Parameters
    ----------
    value
        None, bool, number, str, NumPy scalar or array, tensor map, or a list, tuple or dict of such. What a tensor map describes is only
        read there.

    Raises
    ------
    CourseError
        For anything else.

    >>> arrays = []
    >>> encoded([1, np.float32(0.5), np.zeros(2, np.int8)], arrays), len(arrays)
    ([1, {'scalar': ['<f4', '0000003f']}, {'array': 0}], 1)
    """
    if isinstance(value, np.generic):
        return {"scalar": [_plain(value.dtype), value.tobytes().hex()]}
    if isinstance(value, np.ndarray):
        _plain(value.dtype)
        if not value.flags.c_contiguous:
            raise CourseError("an array with gaps cannot be sent to the sandbox: make it contiguous")
        index = next((i for i, known in enumerate(arrays) if known is value), len(arrays))
        if index == len(arrays):
            arrays.append(value)
        return {"array": index}
    if isinstance(value, TensorMap):
        said = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"tensor": encoded([said | {"array": _span(value.array)}, value.array.shape, value.array.strides], arrays)}
    if isinstance(value, (list, tuple)):
        return [encoded(item, arrays) for item in value]
    if isinstance(value, dict):
        return {"map": {str(name): encoded(item, arrays) for name, item in value.items()}}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise CourseError(f"a {type(value).__name__} cannot be sent to the sandbox")


def decoded(value: Any, arrays: Sequence[np.ndarray]) -> Any:
    """Turn what `encoded` made into values again.

    >>> given = []
    >>> decoded(encoded({"n": np.int32(7), "x": [True]}, given), given)
    {'n': np.int32(7), 'x': [True]}
    """
    if isinstance(value, list):
        return [decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    (kind, what), = value.items()
    if kind == "array":
        return arrays[what]
    if kind == "tensor":
        said, shape, strides = decoded(what, arrays)
        box, steps = (tuple(said[name]) if said[name] else None for name in ("box", "element_strides"))
        array = np.lib.stride_tricks.as_strided(said["array"], shape, strides, writeable=False)
        return TensorMap(**said | {"array": array, "box": box, "element_strides": steps})
    if kind == "scalar":
        return np.frombuffer(bytes.fromhex(what[1]), np.dtype(what[0]))[0]
    return {name: decoded(item, arrays) for name, item in what.items()}


def shapes(arrays: Sequence[np.ndarray]) -> list[list]:
    """Return (dtype, shape, writable) of each array, for the other side to make them anew."""
    return [[array.dtype.str, list(array.shape), bool(array.flags.writeable)] for array in arrays]


def rebuilt(described: Sequence[Sequence], raw: bytes) -> list[np.ndarray]:
    """Return the arrays that `shapes` describes, filled from their bytes one after the other."""
    made: list[np.ndarray] = []
    at = 0
    for dtype, shape, writable in described:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(raw, np.dtype(dtype), count, at).reshape(shape).copy()
        at += array.nbytes
        array.flags.writeable = writable
        made.append(array)
    return made


def _span(array):
    """Return all elements from the first to the last one of an array with gaps, for reading only."""
    count = 1 + sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)) // array.itemsize
    return np.lib.stride_tricks.as_strided(array, (count,), (array.itemsize,), writeable=False)


def _plain(dtype):
    if dtype.kind not in _KINDS:
        raise CourseError(f"numbers of type {dtype} cannot be sent to the sandbox")
    return dtype.str
