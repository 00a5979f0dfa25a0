"""Tensor maps: the bytes that the driver of an H200 wrote, what it refused, and what a TensorMap says of a NumPy array."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib.tensor_maps import TensorMap, TensorMapError, Tiles

RECORD = json.loads((Path(__file__).parent / "data" / "tensor_maps.json").read_text())
NAMES = ("element", "address", "extents", "strides", "box", "steps", "swizzle", "promotion", "fill")


def test_the_record_is_of_a_device_and_varied():
    assert (RECORD["device"], RECORD["columns"]) == ("NVIDIA H200", [*NAMES, "bytes"])
    assert len(RECORD["maps"]) > 300
    for i, name in enumerate(NAMES):
        values = {str(row[i]) for row in RECORD["maps"]}
        assert len(values) >= {"fill": 2, "swizzle": 4, "promotion": 4}.get(name, 10)


def test_the_driver_wrote_the_same_bytes_or_refused_too():
    for *given, wanted in RECORD["maps"]:
        facts = {name: tuple(value) if isinstance(value, list) else value for name, value in zip(NAMES, given)}
        try:
            found = Tiles(**facts).encode().hex()
        except TensorMapError:
            found = None
        assert found == (wanted and wanted + "0" * 96), facts


def test_axes_of_an_array_are_counted_from_the_last():
    rows = np.zeros((40, 3, 80), np.float16)[:, :, :50]
    tiles = TensorMap(rows, (8, 2, 16), swizzle=32, element_strides=(4, 1, 1), fill="nan").tiles(1 << 40)
    assert tiles == Tiles("f16", 1 << 40, (50, 3, 40), (160, 480), (16, 2, 8), (1, 1, 4), 32, 0, "nan")
    assert TensorMap(np.zeros(64, np.uint16), 8, element="bf16").tiles(0) == Tiles("bf16", 0, (64,), (), (8,), (1,))


GRID, LINE = np.zeros((64, 64), np.float32), np.zeros(64, np.int32)
REFUSED = {
    "as many elements as it has axes": (GRID, (8,), {}),
    "multiple of 16 bytes, more than 0": (np.zeros((8, 6), np.float32), (4, 4), {}),
    "lie 256 bytes apart; a tensor map wants them side by side": (GRID.T, (8, 8), {}),
    "A row of the box has 24 bytes; a tensor map wants a multiple of 16": (GRID, (8, 6), {}),
    "more than the 64 of the swizzle": (GRID, (8, 32), {"swizzle": 64}),
    "other sizes than 1 to 256": (GRID, (0, 8), {}),
    "more than the shared memory of a block": (GRID, (256, 256), {}),
    "swizzle is one of 0, 32, 64, 128": (GRID, (8, 8), {"swizzle": 256}),
    "for floating-point elements, and these are s32": (LINE, 8, {"fill": "nan"}),
    "is 1 along the last axis": (GRID, (8, 8), {"element_strides": (1, 2)}),
    "divides the box (8, 8)": (GRID, (8, 8), {"element_strides": (3, 1)}),
    "element_strides has 1 numbers for 2 axes": (GRID, (8, 8), {"element_strides": (1,)}),
    "other numbers than 1 to 8": (GRID, (18, 8), {"element_strides": (9, 1)}),
    "elements are u8, u16": (np.zeros((8, 8), np.complex64), (8, 8), {}),
    '"bf16" is for an array of uint16': (np.zeros((8, 8), np.float16), (8, 8), {"element": "bf16"}),
    "one to 5 axes": (np.zeros((1,) * 5 + (4,), np.float32), (1,) * 5 + (4,), {}),
    "are not all between 1 and": (np.zeros((0, 64), np.float32), (8, 8), {}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_no_map_can_say_is_refused_with_the_limit(words):
    array, box, how = REFUSED[words]
    with pytest.raises(TensorMapError) as caught:
        TensorMap(array, box, **how)
    assert words in str(caught.value)


def test_an_address_between_pieces_of_16_bytes():
    with pytest.raises(TensorMapError, match="a multiple of 16"):
        TensorMap(GRID, (8, 8)).encode(24)
