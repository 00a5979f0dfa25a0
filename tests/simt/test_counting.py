"""Sectors and wavefronts, as the runtime and as whole launches count them, against the model and an H200's readings."""

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import simt
from course_lib.model import conflicts, sectors, shared_wavefronts
from course_lib.simt.codegen import library

LANES = np.arange(32)
ROWS = json.loads((Path(__file__).parents[1] / "data" / "wavefronts.json").read_text())["rows"]
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
EXECUTED = "smsp__sass_inst_executed_op_shared_{}.sum"


def lanes_of(mask):
    return (mask >> LANES & 1).astype(bool)


def patterns(seed, n):
    """Yield (lane -> element, mask): random, and those that people write: strides, permutations, broadcasts, pairs."""
    rng = np.random.default_rng(seed)
    masks = (0xFFFFFFFF, 0, 1, 0x80000000, 0x55555555, 0xFFFF, 0x00FF00FF, 0x33333333)
    for i in range(n):
        stride, shift = int(rng.integers(0, 70)), int(rng.integers(0, 40))
        elements = (
            rng.integers(0, 2000, 32), rng.integers(0, 8, 32), LANES * stride + shift, (31 - LANES) * stride, rng.permutation(32) + shift,
            np.full(32, shift), LANES // 2 * stride, (LANES & ~2) * stride, LANES % 4 * stride + shift, LANES // 8 * 32 + LANES % 8,
            np.repeat(rng.integers(0, 500, 16), 2), rng.integers(0, 3, 32) * 32 + shift, (LANES ^ shift) * 3, LANES * LANES,
        )[i % 14]
        mask = masks[i % 8] if i % 3 == 0 else int(rng.integers(0, 1 << 32)) if i % 3 == 1 else 0xFFFFFFFF
        yield np.asarray(elements, np.int64), mask


# -- the runtime's functions --------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def count():
    """Call a counting function of the runtime on 32 addresses."""
    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    of_sectors = library.runtime().function("count_sectors", u32, u64, u32)
    of_waves = library.runtime().function("count_wavefronts", u32, u64, u32, u32, u32, u64)

    def runtime_sectors(addresses, mask):
        return of_sectors(np.ascontiguousarray(addresses, np.uint64).ctypes.data, mask)

    def runtime_waves(addresses, mask, width, kind):
        phases = np.zeros(1, np.uint32)
        lanes = np.ascontiguousarray(addresses, np.uint64)
        found = of_waves(lanes.ctypes.data, mask, width, kind == "load", phases.ctypes.data)
        return found, found - int(phases[0])

    return runtime_sectors, runtime_waves


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_runtime_sectors_are_the_models(count, width):
    for elements, mask in patterns(width, 420):
        for base in (0, 16, 1 << 40):
            addresses = elements * width + base
            assert count[0](addresses, mask) == sectors(addresses, width, lanes_of(mask)), (elements, hex(mask), base)


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_runtime_wavefronts_are_the_models(count, width, kind):
    for elements, mask in patterns(width, 420):
        active, addresses = lanes_of(mask), elements * width
        expected = shared_wavefronts(addresses, width, active, kind), conflicts(addresses, width, active, kind)
        assert count[1](addresses, mask, width, kind) == expected, (elements, hex(mask))


@pytest.mark.parametrize("kind", ["load", "store"])
def test_runtime_wavefronts_are_those_of_an_h200(count, kind):
    prefix = {"load": "ld", "store": "st"}[kind]
    for row in ROWS:
        measured = row[f"{prefix}_wavefronts"], row[f"{prefix}_conflicts"]
        addresses = np.array(row["index"]) * row["width"]
        assert count[1](addresses, row["mask_bits"], row["width"], kind) == measured, (row["pattern"], row["mask"])


# -- whole launches -----------------------------------------------------------------------------------------------------
SHARED = r"""
extern "C" __global__ void access(const int* element, unsigned mask, TYPE* in, TYPE* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    TYPE* tile = reinterpret_cast<TYPE*>(memory);
    const int at = element[threadIdx.x];
    if (mask >> threadIdx.x & 1) {
#ifdef STORE
        tile[at] = in[threadIdx.x];
#else
        out[threadIdx.x] = tile[at];
#endif
    }
}
"""
GLOBAL = r"""
extern "C" __global__ void access(const int* element, unsigned mask, TYPE* in, TYPE* out) {
    const int at = element[threadIdx.x];
    if (mask >> threadIdx.x & 1) out[at] = in[at];
}
"""
TYPES = {1: "char", 2: "short", 4: "float", 8: "float2", 16: "float4"}


def launch(source, elements, mask, width, store=False, length=None, racecheck=False):
    """Run a kernel in which active lane l touches element elements[l]; return its counters."""
    arrays = [np.zeros(length or 32, f"V{width}") for _ in range(2)]
    shared = 0 if length else int(elements.max() + 1) * width
    defines = {"TYPE": TYPES[width], **({"STORE": 1} if store else {})}
    return simt.launch(source, "access", 1, 32, [elements.astype(np.int32), np.uint32(mask), *arrays], defines=defines,
                       dynamic_shared=shared, workers=1, racecheck=racecheck).counters


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("kind", ["ld", "st"])
def test_launches_count_the_wavefronts_of_an_h200(kind):
    for row in ROWS:
        found = launch(SHARED, np.array(row["index"]), row["mask_bits"], row["width"], kind == "st")
        assert found[WAVEFRONTS.format(kind)] == row[f"{kind}_wavefronts"], (row["pattern"], row["mask"], row["width"])
        assert found[CONFLICTS.format(kind)] == row[f"{kind}_conflicts"]
        assert found[EXECUTED.format(kind)] == 1


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("racecheck", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_launches_count_the_models_sectors(width, racecheck):
    """With and without racecheck, under which the runtime carries out each access to shared memory."""
    for elements, mask in patterns(50 + width, 70):
        found = launch(GLOBAL, elements, mask, width, length=int(elements.max()) + 1, racecheck=racecheck)
        active = lanes_of(mask)
        index, data = sectors(4 * LANES, 4, active), sectors(elements * width, width, active)  # the compiler loads both under the mask
        assert (found[SECTORS.format("ld")], found[SECTORS.format("st")]) == (index + data, data), (elements, hex(mask))
        assert (found[REQUESTS.format("ld")], found[REQUESTS.format("st")]) == (2 * (mask > 0), mask > 0)


STRIDED = r"""
extern "C" __global__ void access(int first, int stride, const TYPE* in, TYPE* out) {
    __shared__ TYPE tile[TILE];
    const int known = (threadIdx.x * STRIDE + FIRST) % TILE, given = (threadIdx.x * stride + first) % TILE;
    tile[known] = in[given];
    __syncthreads();
    out[known] = tile[given];
}
"""


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize(("stride", "first"), [
    (0, 5), (1, 0), (1, 3), (2, 1), (3, 0), (4, 7), (8, 0), (16, 2),
    (17, 1), (32, 0), (33, 0), (-1, 40),
])
def test_strides_known_to_the_compiler_or_only_at_launch(width, stride, first):
    tile, block = 1100, (8, 16)
    args = [np.int32(first), np.int32(stride), np.zeros(tile, f"V{width}"), np.zeros(tile, f"V{width}")]
    defines = {"TYPE": TYPES[width], "TILE": tile, "STRIDE": stride, "FIRST": first}
    found = simt.launch(STRIDED, "access", 3, block, args, defines=defines, workers=1).counters
    addresses = (np.arange(8) * stride + first)[LANES % 8] * width  # threadIdx.x in each of the four warps
    assert found[WAVEFRONTS.format("ld")] == 12 * shared_wavefronts(addresses, width)
    assert found[WAVEFRONTS.format("st")] == 12 * shared_wavefronts(addresses, width, kind="store")
    assert found[CONFLICTS.format("ld")] == 12 * conflicts(addresses, width)
    assert found[CONFLICTS.format("st")] == 12 * conflicts(addresses, width, kind="store")
    for op in ("ld", "st"):
        assert found[SECTORS.format(op)] == 12 * sectors(addresses, width)
        assert found[REQUESTS.format(op)] == 12


OFFSETS = r"""
extern "C" __global__ void access(const float* in, float* out, int rows, int pitch) {
    in += threadIdx.x;
    out += threadIdx.x;
    for (int row = 0; row < rows; ++row) {
        out[3] = in[1] + in[2] + in[8];
        in += pitch;
        out += pitch;
    }
}
"""


@pytest.mark.parametrize("racecheck", [False, True])
@pytest.mark.parametrize("pitch", [32, 33, 37, 40, 47, 100])
def test_each_row_of_a_walk_has_its_own_alignment(pitch, racecheck):
    rows = 40
    arrays = [np.zeros(rows * pitch + 40, np.float32) for _ in range(2)]
    found = simt.launch(OFFSETS, "access", 1, 32, [*arrays, np.int32(rows), np.int32(pitch)], workers=1, racecheck=racecheck).counters
    walk = {d: sum(sectors(4 * (row * pitch + LANES + d)) for row in range(rows)) for d in (1, 2, 3, 8)}
    assert found[SECTORS.format("ld")] == walk[1] + walk[2] + walk[8]
    assert found[SECTORS.format("st")] == walk[3]
    assert found[REQUESTS.format("ld")] == 3 * rows
