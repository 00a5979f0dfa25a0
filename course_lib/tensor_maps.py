"""Tensor maps: what `cp.async.bulk.tensor` knows of a tensor in global memory, in the 128 bytes that a kernel takes as a `CUtensorMap`.

    TensorMap(A, box=(64, 64), swizzle=128)         # where the kernel has `const __grid_constant__ CUtensorMap map`, after
                                                    # struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };

A kernel counts axes from the innermost one: the first coordinate of `{x, y}` is along the last axis of the array. NVIDIA documents what
`cuTensorMapEncodeTiled` takes and refuses, not the bytes that it writes. `tests/data/tensor_maps.json` has what the driver of an H200 wrote
for some hundred maps; `encode` writes the same, without a driver.
"""

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from course_lib.errors import CourseError

MAP_BYTES, MAP_ALIGNMENT = 128, 64
CODES = {"u8": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7, "f64": 9, "bf16": 10}
OF_DTYPE = {"u1": "u8", "i1": "u8", "u2": "u16", "i2": "u16", "u4": "u32", "i4": "s32", "u8": "u64", "i8": "s64", "f2": "f16", "f4": "f32",
            "f8": "f64"}
SWIZZLES, PROMOTIONS, FILLS = (0, 32, 64, 128), (0, 64, 128, 256), ("zeros", "nan")
MOST_AXES, MOST_EXTENT, MOST_STRIDE, MOST_BOX, MOST_STEP = 5, 1 << 32, 1 << 40, 256, 8
MOST_BYTES = 227 << 10          # of a box: the driver took 226,176 and refused 236,160


class TensorMapError(CourseError, ValueError):
    """What no tensor map can say; the message names the value and the limit."""


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor in global memory, and the box of it that one copy moves.

    Parameters
    ----------
    array
        NumPy or CuPy array of one to five axes, neighbours along the last one side by side. `gpu.launch` copies NumPy's to the GPU.
    box
        Elements of the box along each axis of the array, up to 256.
    swizzle
        0, or 32, 64, 128: the bytes among which pieces of 16 bytes are exchanged, so that columns lie in different banks.
    fill
        What stands in shared memory for elements outside of the tensor: "zeros", or "nan".
    element_strides
        Every how manyth element is taken along each axis, up to 8, and 1 along the last one. The box counts those in between too, and is a
        multiple of them: elsewhere the manual and what the driver writes into the map disagree about how many elements there are.
    promotion
        0, 64, 128 or 256: bytes that the L2 cache fetches at once. A hint.
    element
        "bf16" for an array of uint16; otherwise the array's type says it.

    Raises
    ------
    TensorMapError
        What the driver refuses too, with the limit.

    >>> len(TensorMap(np.zeros((100, 64), np.float16), (8, 64), swizzle=128).encode(1 << 40))
    128
    """

    array: Any
    box: tuple[int, ...]
    swizzle: int = 0
    fill: str = "zeros"
    element_strides: tuple[int, ...] | None = None
    promotion: int = 0
    element: str = ""

    def __post_init__(self) -> None:
        if not self.element:
            object.__setattr__(self, "element", OF_DTYPE.get(self.array.dtype.str[1:], str(self.array.dtype)))
        if np.ndim(self.box) == 0:
            object.__setattr__(self, "box", (self.box,))
        if len(self.box) != self.array.ndim:
            fail(f"The box {self.box} has {len(self.box)} axes and the array has {self.array.ndim}: give as many elements as it has axes.")
        if size_of(self.element) != self.array.dtype.itemsize or self.element == "bf16" and self.array.dtype.str[1:] != "u2":
            fail(f'element="{self.element}" does not fit an array of {self.array.dtype}; "bf16" is for an array of uint16.')
        if self.array.size and self.array.ndim and self.array.shape[-1] > 1 and self.array.strides[-1] != self.array.dtype.itemsize:
            fail(f"The elements along the last axis lie {self.array.strides[-1]} bytes apart; a tensor map wants them side by side: give "
                 "np.ascontiguousarray(x), or another order of the axes.")
        tiles = self.tiles(0)
        if tiles.steps[0] != 1 or any(n % step for n, step in zip(tiles.box, tiles.steps)):
            fail(f"element_strides {tiles.steps[::-1]} is 1 along the last axis, and divides the box {tiles.box[::-1]} along the others.")

    def tiles(self, address: int) -> "Tiles":
        """Return what the driver would be told of the map, for an array at an address."""
        steps = self.element_strides or (1,) * len(self.box)
        return Tiles(self.element, address, self.array.shape[::-1], self.array.strides[-2::-1], tuple(self.box)[::-1], tuple(steps)[::-1],
                     self.swizzle, self.promotion, self.fill)

    def encode(self, address: int) -> bytes:
        """Return the 128 bytes of the map of an array that lies at an address."""
        return self.tiles(address).encode()


@dataclass(frozen=True)
class Tiles:
    """The parameters of `cuTensorMapEncodeTiled`, the innermost axis first; `strides` has the bytes along the others."""

    element: str
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int = 0
    promotion: int = 0
    fill: str = "zeros"

    def __post_init__(self) -> None:
        for name, allowed in (("swizzle", SWIZZLES), ("promotion", PROMOTIONS), ("fill", FILLS)):
            if (value := getattr(self, name)) not in allowed:
                fail(f"{name} is one of {', '.join(map(str, allowed))}, not {value!r}.")
        if not 1 <= len(self.extents) <= MOST_AXES:
            fail(f"A tensor map has one to {MOST_AXES} axes, and the array has {len(self.extents)}.")
        if len(self.steps) != len(self.box):
            fail(f"element_strides has {len(self.steps)} numbers for {len(self.box)} axes.")
        self.check_tensor()
        self.check_box()

    def check_tensor(self) -> None:
        """Refuse what the driver refuses about the tensor."""
        if self.address % 16:
            fail(f"The array lies at the address {self.address:#x}; a tensor map wants a multiple of 16.")
        if not all(0 < extent <= MOST_EXTENT for extent in self.extents):
            fail(f"The extents {self.extents[::-1]} are not all between 1 and {MOST_EXTENT}.")
        for stride in self.strides:
            if stride <= 0 or stride % 16 or stride >= MOST_STRIDE:
                fail(f"Neighbours along an axis lie {stride} bytes apart; a tensor map wants a multiple of 16 bytes, more than 0 and less "
                     "than 2**40. Let rows begin at multiples of 16 bytes: allocate them longer, and take x[:, :n].")
        if self.fill == "nan" and self.element[0] not in "fb":
            fail(f'fill="nan" is for floating-point elements, and these are {self.element}.')

    def check_box(self) -> None:
        """Refuse what the driver refuses about the box."""
        if not all(0 < n <= MOST_BOX for n in self.box):
            fail(f"The box {self.box[::-1]} has other sizes than 1 to {MOST_BOX}: copy it in several parts.")
        if not all(0 < step <= MOST_STEP for step in self.steps):
            fail(f"element_strides {self.steps[::-1]} has other numbers than 1 to {MOST_STEP}.")
        row = self.box[0] * size_of(self.element)
        if row % 16:
            fail(f"A row of the box has {row} bytes; a tensor map wants a multiple of 16.")
        if self.swizzle and row > self.swizzle:
            fail(f"A row of the box has {row} bytes, more than the {self.swizzle} of the swizzle: copy narrower boxes, side by side.")
        if (nbytes := size_of(self.element) * math.prod(self.box)) > MOST_BYTES:
            fail(f"The box has {nbytes} bytes, more than the shared memory of a block, {MOST_BYTES}: copy it in several parts.")

    def encode(self) -> bytes:
        """Return the 128 bytes, as 32 words."""
        words, size = [0] * (MAP_BYTES // 4), size_of(self.element)
        words[0], words[1] = self.address & 0xFFFFFFFF, self.address >> 32
        words[2] = (len(self.box) - 1 << 4 | CODES[self.element] << 7 | SWIZZLES.index(self.swizzle) << 13 | FILLS.index(self.fill) << 15
                    | PROMOTIONS.index(self.promotion) << 17)
        for i, stride in enumerate(self.strides):
            words[3 + i] = stride >> 4 & 0xFFFFFFFF
            words[7] |= stride >> 36 << 4 * i
        for i, extent in enumerate(self.extents):
            words[8 + i] = extent - 1
        words[13] = self.box[0] - 1 << 24 | sum(step - 1 << 3 * i for i, step in enumerate(self.steps))
        words[14] = sum(n - 1 << 8 * i for i, n in enumerate(self.box[1:]))
        words[16] = size * math.prod(n // step for n, step in zip(self.box, self.steps))
        words[18] = 8 * self.swizzle or 16
        return b"".join(word.to_bytes(4, "little") for word in words)


def size_of(element: str) -> int:
    """Return the bytes of an element.

    >>> size_of("bf16"), size_of("s64")
    (2, 8)
    """
    if element not in CODES:
        fail(f"A tensor map's elements are {', '.join(CODES)}, not {element}.")
    return int(element.lstrip("usbf")) // 8


def fail(message: str) -> NoReturn:
    raise TensorMapError(message)
