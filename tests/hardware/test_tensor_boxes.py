"""Boxes of tensors on the simulator, and on a GPU of compute capability 9.0."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu, simt, toolchain
from course_lib.simt.host.counters import BULK_SECTORS
from course_lib.tensor_maps import TensorMap

RECORD = json.loads((Path(__file__).parents[1] / "data" / "h100_warpgroups.json").read_text())["boxes"]
SOURCE = Path(__file__).parent / "kernels" / "sm_90a" / "tensor_boxes.cu"
ROOM = 8192


def launch(run, tensor, box, x, y, *, start=0, nbytes=None, how="", **options):
    """Run the probe by `run`; return (shared memory, the tensor that a box was stored to, whether the mbarrier's phase ended)."""
    nbytes = int(np.prod(box)) * tensor.itemsize if nbytes is None else nbytes
    defines = {"ROOM": ROOM, "START": start, "BYTES": nbytes, "HOW": f'"{how}"', "COPY": '"cp.reduce.async"' if how else '"cp.async"'}
    out, raw, arrived = tensor.copy(), np.zeros(ROOM // 4, np.uint32), np.zeros(1, np.int32)
    run([TensorMap(tensor, box, **options), TensorMap(out, box, **options), np.int32(x), np.int32(y), raw, arrived], defines)
    return raw, out, bool(arrived[0])


def simulated(args, defines):
    return simt.launch(SOURCE, "tensor_boxes", 1, 32, args, arch="sm_90a", defines=defines)


@pytest.fixture
def hopper():
    """Return what launches the probe on a GPU; skip where there is none."""
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    status = gpu.probe()
    if not status.usable or status.cc != (9, 0):
        pytest.skip(f"no GPU of compute capability 9.0 to test on: {status.reason}")

    def run(args, defines):
        compiled = toolchain.compile_cuda(SOURCE.read_text(), name=SOURCE.name, arch="sm_90a", defines=defines)
        gpu.launch(compiled, "tensor_boxes", 1, 32, args)
    return run


TENSOR = np.random.default_rng(8).integers(0, 1 << 16, (40, 64)).astype(np.uint16).view(np.float16)
SMALL = np.full((40, 64), 3e-39, np.float32)
PROBES = {
    "a swizzle of 128 bytes inside its pattern": (TENSOR, (16, 64), 0, 3, {"swizzle": 128, "start": 640}),
    "a swizzle of 32 bytes over two edges": (TENSOR, (16, 16), -8, 31, {"swizzle": 32}),
    "which NaN fills edges": (TENSOR, (16, 16), 56, -2, {"fill": "nan"}),
    "which NaN fills edges in single precision": (SMALL, (16, 16), 56, -2, {"fill": "nan"}),
    "which NaN fills edges in double precision": (np.zeros((9, 16)), (4, 8), 12, -2, {"fill": "nan"}),
    "rows narrower than the swizzle": (TENSOR, (8, 16), 16, 5, {"swizzle": 128}),
    "narrow rows over an edge": (TENSOR, (16, 16), 56, -2, {"swizzle": 64, "fill": "nan"}),
    "sums of narrow rows": (SMALL, (8, 8), 60, 38, {"how": ".add", "swizzle": 64}),
    "every third row": (TENSOR, (24, 16), 8, 1, {"element_strides": (3, 1), "nbytes": 8 * 16 * 2}),
    "sums of subnormal numbers": (SMALL, (8, 16), 0, 0, {"how": ".add"}),
}


@pytest.mark.sampled(test=2, slow=6)
@pytest.mark.parametrize("name", PROBES)
def test_the_simulator_answers(name):
    tensor, box, x, y, how = PROBES[name]
    raw, out, arrived = launch(simulated, tensor, box, x, y, **how)
    assert arrived
    assert (raw == 0x11111111).any()
    assert not (raw == 0x11111111).all()
    assert (out == 2 * tensor).any() if "how" in how else out.tobytes() == tensor.tobytes()


@pytest.mark.parametrize("name", PROBES)
def test_a_gpu_answers_the_same(name, hopper):
    tensor, box, x, y, how = PROBES[name]
    here, there = (launch(run, tensor, box, x, y, **how) for run in (simulated, hopper))
    assert all(np.array_equal(np.asarray(a).view(np.uint8), np.asarray(b).view(np.uint8)) for a, b in zip(here, there))


LINES = np.random.default_rng(1).standard_normal((45, 72)).astype(np.float16)         # of 144 bytes, which is no multiple of a sector
COUNTED = {
    "whole rows of a swizzle": (TENSOR, (16, 64), 0, 3, {"swizzle": 128}),
    "rows of a sector": (TENSOR, (16, 16), 0, 3, {}),
    "rows in the middle of sectors": (TENSOR, (16, 16), 8, 3, {}),
    "over the left and the lower edge": (TENSOR, (16, 16), -8, 31, {}),
    "over the right and the upper edge": (TENSOR, (16, 16), 56, -2, {}),
    "right of the tensor": (TENSOR, (16, 16), 64, 0, {}),
    "below the tensor": (TENSOR, (16, 16), 0, 40, {}),
    "rows of half a sector": (TENSOR, (16, 8), 0, 0, {}),
    "the other halves": (TENSOR, (16, 8), 8, 0, {}),
    "rows of 48 bytes": (TENSOR, (16, 24), 0, 0, {}),
    "rows of 48 bytes, 16 bytes further": (TENSOR, (16, 24), 8, 0, {}),
    "lines of 144 bytes": (LINES, (45, 64), 0, 0, {"swizzle": 128}),
    "lines of 144 bytes, over the right edge": (LINES, (45, 64), 64, 0, {"swizzle": 128}),
    "lines of 144 bytes, over the lower edge": (LINES, (64, 64), 0, 0, {"swizzle": 128}),
    "lines of 144 bytes, over both edges": (LINES, (64, 64), 64, 0, {"swizzle": 128}),
    "lines of 144 bytes, no swizzle": (LINES, (45, 64), 0, 0, {}),
    "over both edges, no swizzle": (LINES, (64, 64), 64, 0, {}),
    "every third row": PROBES["every third row"],
    "rows narrower than the swizzle": (TENSOR, (8, 16), 0, 0, {"swizzle": 128}),
    "promoted to 128 bytes": (TENSOR, (16, 16), 8, 3, {"promotion": 128}),
    "over an edge with a swizzle of 32": (TENSOR, (16, 16), 56, -2, {"swizzle": 32}),
}


@pytest.mark.sampled(test=6, slow=15)
@pytest.mark.parametrize("name", RECORD)
def test_counts_what_a_gpu_counted(name):
    tensor, box, x, y, how = COUNTED[name]
    reports = []
    launch(lambda *given: reports.append(simulated(*given)), tensor, box, x, y, **how)
    assert {metric: reports[0].counters[metric] for metric in RECORD[name]} == RECORD[name]


SHARED = json.loads((Path(__file__).parents[1] / "data" / "h200_multicast.json").read_text())["rows"]


@pytest.mark.sampled(test=8, slow=40)
@pytest.mark.parametrize("row", SHARED, ids=str)
def test_counts_what_a_gpu_counted_of_a_box_for_two_blocks(row):
    rows, cols, box, x, y, swizzle, mask, sectors = row
    came = np.zeros(2, np.uint32)
    tensor, nbytes = TensorMap(np.zeros((rows, cols), np.float16), tuple(box), swizzle=swizzle), 2 * box[0] * box[1]
    report = simt.launch(SOURCE.with_name("shared_boxes.cu"), "shared_boxes", 2, 32,
                         [tensor, np.int32(x), np.int32(y), np.int32(nbytes), np.int32(mask), came], arch="sm_90a")
    assert came.all()
    assert report.counters[BULK_SECTORS["ld"]] == sectors
