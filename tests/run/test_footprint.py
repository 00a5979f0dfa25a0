"""What a block takes without running it: the same as a run says, on the device that is named."""

from dataclasses import replace

import pytest

from course_lib import kernels
from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.model import occupancy
from course_lib.run import footprint, run
from course_lib.widgets.compute import inputs

FAMILY = [("sgemm_2d_tile", {"BM": 64, "BN": 64, "TM": 4, "TN": 4}), ("sgemm_outputs", {"bx": 8}), ("sgemm_naive", {"bx": 32, "by": 4})]


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("name", "parameters"), FAMILY)
def test_it_is_what_a_run_says(name, parameters):
    taken = footprint(name, **parameters)
    result = run(name, *inputs(64, 64, 16)[:2], backend="sim", device="H200", **parameters)
    assert taken.resources == result.resources
    assert taken.occupancy == result.occupancy
    assert taken.threads == result.block[0] * result.block[1]


def test_another_device_has_other_limits():
    taken = footprint("sgemm_tiled", on="T4", BM=16, BN=16, BK=16)
    assert taken.occupancy == occupancy(device("T4"), 256, taken.resources.registers, 2048)
    assert taken.resources.reserved_shared_bytes == 0            # compute capability 7.5; an H200's runtime keeps 1024
    assert footprint("sgemm_tiled", on=device("T4"), BM=16, BN=16, BK=16) == taken


@pytest.mark.slow
def test_sums_beyond_the_registers_spill():
    free = replace(kernels.get("dgemm_outputs"), rules=())       # the rule would refuse the second
    fits, spills = (footprint(free, bx=bx, by=by).resources for bx, by in ((8, 8), (4, 4)))
    assert fits.spill_store_bytes == fits.local_bytes == 0
    assert spills.spill_store_bytes > 1024
    assert spills.local_bytes > 1024


def test_rules_and_names_are_checked():
    with pytest.raises(CourseError, match="1024 are allowed"):
        footprint("sgemm_naive", bx=64, by=64)
    with pytest.raises(CourseError, match="no kernel"):
        footprint("sgemm_nave")
    with pytest.raises(CourseError, match="no device"):
        footprint("sgemm_naive", on="H2000")
