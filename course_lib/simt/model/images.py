"""What a fetch from a texture and an access to a surface give, in plain Python: numbers in, the bits of registers out.

Coordinates and sums are Python floats, which are double precision. `simt.Texture` says what is NVIDIA's word and what is our reading.
"""

import math
import struct
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from course_lib.simt.model.types import Undefined, cut, signed

FIRST_HANDLE = 0x5E00000000000000
ONE = 256                                # the weights of a linear filter count parts of it
CORNERS = ((0, 1), (1, 1), (1, 0), (0, 0))         # of a gather: counter-clockwise from the lower left


class Picture(Protocol):
    """What the model asks of a `simt.Texture` or `simt.Surface`."""

    @property
    def array(self) -> Any: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def extent(self) -> tuple[int, int]: ...


def fetch(texture: Any, given: Sequence[int], opcode: Sequence[str]) -> list[int]:
    """Return the four results of `tex` or `tld4`; `given`: the bits of the coordinates, and of the level if there is one."""
    if not hasattr(texture, "filter") or texture.dimensions != (2 if "2d" in opcode else 1):
        raise Undefined("another kind of texture")
    if "level" in opcode and given[-1] << 1 & 0xFFFFFFFF:
        raise Undefined("another level than 0")
    axes = list(zip(given, texture.modes, texture.extent))[:texture.dimensions]
    if opcode[-1] == "s32":
        return texel(texture, [index(signed(bits, "s32"), mode, n) for bits, mode, n in axes])
    places = [coordinate(float_of(bits), mode, n, texture.normalized) for bits, mode, n in axes]
    if opcode[0] == "tld4":
        channel = "rgba".index(opcode[1])
        low = [math.floor(math.floor((place - 0.5) * ONE + 0.5) / ONE) for place in places]
        return [texel(texture, [index(i + step, mode, n) for i, step, (_, mode, n) in zip(low, corner, axes)])[channel]
                for corner in CORNERS]
    if texture.filter == "point":
        return texel(texture, [index(math.floor(place), "clamp" if mode == "wrap" else mode, n)
                               for place, (_, mode, n) in zip(places, axes)])
    return filtered(texture, places, axes)


def filtered(texture: Any, places: Sequence[float], axes: Sequence[tuple[int, str, int]]) -> list[int]:
    """Return the weighted mean of the two or four texels around a place, for each channel."""
    low = [math.floor(place - 0.5) for place in places]
    upper = [math.floor((place - 0.5 - i) * ONE + 0.5) for place, i in zip(places, low)]
    sums = [0.0] * 4
    for corner in ((0, 0), (1, 0), (0, 1), (1, 1))[:2 ** len(axes)]:
        texels = texel(texture, [index(i + step, mode, n) for i, step, (_, mode, n) in zip(low, corner, axes)])
        weight = math.prod(w if step else ONE - w for w, step in zip(upper, corner))
        products = [float_of(bits) * weight for bits in texels]
        sums = products if corner == (0, 0) else [a + b for a, b in zip(sums, products)]
    return [bits_of(total / ONE ** len(axes)) for total in sums]


def coordinate(x: float, mode: str, n: int, normalized: bool) -> float:
    """Return a coordinate in texels, clamped or folded to 0 … n; with a border, clamped to where nothing is."""
    x = 0.0 if math.isnan(x) else x
    if normalized:
        if mode in ("wrap", "mirror"):
            whole = math.floor(x) if math.isfinite(x) else 0
            x = x - whole if math.isfinite(x) else 0.0
            x = 1.0 - x if mode == "mirror" and whole % 2 else x
        x *= n
    return min(max(x, -2.0), n + 2.0) if mode == "border" else min(max(x, 0.0), float(n))


def index(i: int, mode: str, n: int) -> int | None:
    """Return the number of the texel that stands at `i`, or None for the border."""
    if 0 <= i < n:
        return i
    return None if mode == "border" else i % n if mode == "wrap" else min(max(i, 0), n - 1)


def texel(texture: Any, place: Sequence[int | None]) -> list[int]:
    """Return the four channels of a texel as registers hold them; zeros for those that it lacks."""
    if None in place:
        return [0] * 4
    values = np.atleast_1d(texture.array[tuple(reversed(place))])
    return [*(register(value, texture.read) for value in values), *[0] * (4 - len(values))]


def register(value: Any, read: str) -> int:
    """Return one number of an array as a fetch puts it into a register of 32 bits."""
    if read == "normalized_float":
        most = np.iinfo(value.dtype).max
        return bits_of(max(float(np.float32(int(value)) / np.float32(most)), -1.0))
    if value.dtype.kind == "f":
        return int(value.view(np.uint32)) if value.dtype == np.float32 else bits_of(float(value))
    return cut(int(value), 32)


def float_of(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def bits_of(value: float) -> int:
    """Return the bits of a number in single precision; the NaN is the one that GPUs write."""
    with np.errstate(over="ignore"):
        return 0x7FFFFFFF if math.isnan(value) else int(np.float32(value).view(np.uint32))


def place_in_surface(surface: Picture, x: int, y: int, nbytes: int, boundary: str) -> tuple[int, int] | None:
    """Return (byte, row) of an access, moved inside by `clamp`; None outside with `zero`."""
    width, height = surface.extent
    row = width * surface.depth * surface.array.itemsize
    if x % nbytes or nbytes > row and boundary != "zero":
        raise Undefined(f"{nbytes} bytes at byte {x} of a surface whose rows have {row}")
    if 0 <= x <= row - nbytes and 0 <= y < height:
        return x, y
    if boundary == "trap":
        raise Undefined(f"byte {x} of row {y}, outside of a surface")
    last = (row - nbytes) // nbytes * nbytes
    return (min(max(x, 0), last), min(max(y, 0), height - 1)) if boundary == "clamp" else None


def access(surface: Picture, given: Sequence[int], opcode: Sequence[str]) -> list[int]:
    """Read or write bytes of a surface; `given`: coordinates and, of a store, what to write. Return what was read."""
    nbytes, axes, store = int(opcode[-2][1:]) // 8, 2 if "2d" in opcode else 1, opcode[0] == "sust"
    count = next((int(part[1:]) for part in opcode if part in ("v2", "v4")), 1)
    if surface.dimensions != axes or hasattr(surface, "filter"):
        raise Undefined("another kind of surface")
    x, y = [*(signed(cut(bits, 32), "s32") for bits in given[:axes]), 0][:2]
    place = place_in_surface(surface, x, y, count * nbytes, opcode[-1])
    if place is None:
        return [0] * count
    row = surface.array[place[1]] if axes == 2 else surface.array
    raw = bytearray(row.tobytes())
    part = slice(place[0], place[0] + count * nbytes)
    if not store:
        return [int.from_bytes(raw[part][i:i + nbytes], "little") for i in range(0, count * nbytes, nbytes)]
    raw[part] = b"".join(cut(value, 8 * nbytes).to_bytes(nbytes, "little") for value in given[axes:])
    row[...] = np.frombuffer(bytes(raw), row.dtype).reshape(row.shape)
    return []
