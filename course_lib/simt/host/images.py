"""Textures and surfaces of a launch: what a kernel gets a `cudaTextureObject_t` or `cudaSurfaceObject_t` of."""

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.errors import LaunchError
from course_lib.simt.host.memory import DeviceMemory, aligned
from course_lib.simt.runtime import abi

ELEMENTS = {"f4": abi.ImageElement.OF_FLOAT, "f2": abi.ImageElement.OF_HALF, **{f"i{n}": abi.ImageElement.OF_SIGNED for n in (1, 2, 4)},
            **{f"u{n}": abi.ImageElement.OF_UNSIGNED for n in (1, 2, 4)}}
FILTERS, MODES, READS = ("point", "linear"), ("clamp", "border", "wrap", "mirror"), ("element", "normalized_float")
MOST = 1 << 28      # texels along one axis


class Image:
    """What Texture and Surface have in common: the array, and how many channels a texel has."""

    array: NDArray[Any]
    channels: int | None

    def check(self) -> None:
        """Take the NumPy array of a GPU's array that the simulator stands in for; refuse an array that is no picture.

        Raises
        ------
        LaunchError
            Another kind of numbers, more than two dimensions, three channels, nothing in it.
        """
        object.__setattr__(self, "array", getattr(self.array, "_host", self.array))
        what, array = type(self).__name__, self.array
        if not isinstance(array, np.ndarray):
            raise LaunchError(f"A {what} is made from a NumPy array, not from {reprlib.repr(array)}.")
        if array.dtype.str[1:] not in ELEMENTS or not array.dtype.isnative:
            raise LaunchError(f"A {what} holds float32, float16, or integers of 8, 16 or 32 bits, and {array.dtype} was given.")
        if self.channels is not None and (self.channels not in (1, 2, 4) or array.ndim < 2 and self.channels > 1):
            raise LaunchError(f"A texel has 1, 2 or 4 channels, which lie along the array's last axis; channels={self.channels} was given "
                              f"for the shape {array.shape}.")
        if array.ndim not in (1, 2, 3) or self.dimensions not in (1, 2) or self.depth not in (1, 2, 4):
            raise LaunchError(f"A {what} has one or two dimensions, and texels of 1, 2 or 4 channels along a last axis; the shape "
                              f"{array.shape}{'' if self.channels is None else f' with channels={self.channels}'} is not that.")
        if not array.size or max(array.shape) > MOST:
            raise LaunchError(f"A {what} has 1 to {MOST} texels along each axis, and the shape is {array.shape}.")

    @property
    def separate(self) -> bool:
        """Whether the array's last axis is that of the channels."""
        return self.array.ndim == 3 or (self.channels or 1) > 1

    @property
    def depth(self) -> int:
        """Channels of a texel."""
        return self.array.shape[-1] if self.separate else 1

    @property
    def dimensions(self) -> int:
        """Axes of the picture, 1 or 2."""
        return self.array.ndim - self.separate

    @property
    def extent(self) -> tuple[int, int]:
        """Texels in a row, and rows."""
        shape = self.array.shape[:self.dimensions]
        return shape[-1], shape[0] if self.dimensions == 2 else 1

    def record(self, data: NDArray[Any]) -> Any:
        """Return the abi.Image of a picture whose bytes lie in `data`, row by row."""
        width, height = self.extent
        return abi.Image(host=data.ctypes.data, pitch=data.strides[0] if self.dimensions == 2 else 0, width=width, height=height,
                         channels=self.depth, dimensions=self.dimensions, element=ELEMENTS[self.array.dtype.str[1:]],
                         bytes=self.array.itemsize)


@dataclass(frozen=True, eq=False)
class Texture(Image):
    """A picture that a kernel fetches from, given where it takes a `cudaTextureObject_t`.

    Parameters
    ----------
    array
        A row of texels, or rows of them: `array[y, x]` is the texel (x, y). Of several channels, 2 or 4 (`float2`, `uchar4`), the last
        axis is that of the channels. The kernel sees it as it is when the launch begins.
    filter
        "point" or "linear".
    address
        What lies outside: "clamp", "border" (zeros), "wrap" or "mirror"; a pair says it for x and y. Wrap and mirror need normalized
        coordinates, as in CUDA (which takes clamp for them without a word).
    normalized
        Coordinates go from 0 to 1 along each axis.
    read
        "element", or "normalized_float": integers of 8 and 16 bits are read as floats, 0 to 1, of signed ones -1 to 1.
    channels
        1, 2 or 4. Default: the last of three axes, otherwise 1.

    Raises
    ------
    LaunchError
        What CUDA does not allow together, and what is not covered.

    Notes
    -----
    Documented in the CUDA C++ Programming Guide, "Texture Fetching": `point` takes texel floor(x); `linear` mixes the texels around
    x - 0.5 with weights of 9 bits, 8 of them fraction; coordinates are clamped to the texture, or folded when normalized; `tex1Dfetch`
    takes texels by number, never filters, and knows clamp and border only; `tex2Dgather` rounds coordinates to 8 bits of fraction.

    Not documented, and our reading, so that last bits may be others on a GPU: weights are rounded to nearest, halves up; the two or four
    products are added in double precision and rounded once; a weight of zero counts (zero times infinity is no number); a coordinate that
    is no number counts as 0, an infinite one too when it is folded; a signed fraction is value / 127 or value / 32767, at least -1.
    """

    array: NDArray[Any]
    filter: str = "point"
    address: str | tuple[str, str] = "clamp"
    normalized: bool = False
    read: str = "element"
    channels: int | None = None

    def __post_init__(self) -> None:
        self.check()
        for name, value, allowed in (("filter", self.filter, FILTERS), ("read", self.read, READS)):
            if value not in allowed:
                raise LaunchError(f"{name} is one of {', '.join(allowed)}, not {reprlib.repr(value)}.")
        if not isinstance(self.normalized, bool | np.bool_):
            raise LaunchError(f"normalized is True or False, not {reprlib.repr(self.normalized)}.")
        if len(self.modes) != 2 or any(mode not in MODES for mode in self.modes):
            raise LaunchError(f"address is one of {', '.join(MODES)}, or a pair of them for x and y, not {reprlib.repr(self.address)}.")
        folded = next((mode for mode in self.modes if mode in ("wrap", "mirror")), None)
        if folded and not self.normalized:
            raise LaunchError(f'address="{folded}" needs normalized=True, coordinates from 0 to 1: CUDA would take "clamp" in its place.')
        whole = self.array.dtype.kind in "iu"
        if self.read == "normalized_float" and (not whole or self.array.itemsize == 4):
            raise LaunchError(f'read="normalized_float" is for integers of 8 or 16 bits, and the array holds {self.array.dtype}.')
        if self.filter == "linear" and whole and self.read == "element":
            raise LaunchError(f'filter="linear" is for textures that are read as floats; the array holds {self.array.dtype}: give float32, '
                              'or read="normalized_float".')

    @property
    def modes(self) -> tuple[str, ...]:
        """The address modes along x and y."""
        return tuple(self.address) if isinstance(self.address, tuple | list) else (self.address,) * 2

    def describe(self, memory: DeviceMemory) -> tuple[Any, NDArray[Any]]:
        """Return the abi.Image of a texture, and its copy, which must live as long."""
        data = aligned(self.array.nbytes).view(self.array.dtype).reshape(self.array.shape)
        data[...] = self.array
        record = self.record(data)
        record.linear, record.normalized = self.filter == "linear", self.normalized
        record.fractions = self.read == "normalized_float"
        record.address[:] = [abi.AddressMode[f"ADDRESS_{mode.upper()}"] for mode in self.modes]
        return record, data


@dataclass(frozen=True, eq=False)
class Surface(Image):
    """A picture that a kernel reads and writes, given where it takes a `cudaSurfaceObject_t`.

    After the launch the NumPy array holds what the kernel wrote. The x of `surf2Dread` and its like counts bytes.

    Parameters
    ----------
    array
        As for `Texture`; each row must lie in memory without gaps.
    channels
        1, 2 or 4. Default: the last of three axes, otherwise 1.

    Raises
    ------
    LaunchError
        What CUDA does not allow together, and what is not covered.
    """

    array: NDArray[Any]
    channels: int | None = None

    def __post_init__(self) -> None:
        self.check()
        row = self.array[0] if self.dimensions == 2 else self.array
        if not row.flags.c_contiguous:
            raise LaunchError("The rows of a Surface must lie in memory without gaps: give np.ascontiguousarray(x), and copy it back.")

    def describe(self, memory: DeviceMemory) -> tuple[Any, NDArray[Any]]:
        """Return the abi.Image of a surface, and the array that it lies in while the kernel runs."""
        data = memory.view(self.array)[1]
        record = self.record(data)
        record.surface, record.writable = 1, self.array.flags.writeable
        return record, data
