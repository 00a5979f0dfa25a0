"""The CPU's roofline: every roof, its knee, and the programs where they belong."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.lessons.cpu.roofline import cpu_roofline, describe_cpu_roofline
from course_lib.run import CpuPeak

PEAK = CpuPeak("float32", 2, 96.0, 32, {24: 192.0, 384: 96.0, 98304: 12.0}, "measured on a CPU")


def test_each_roof_rises_with_its_bandwidth_to_the_peak():
    ax = cpu_roofline(PEAK, {"ikj": (0.5, 20.0)})
    drawn = {line.get_label(): line for line in ax.lines}
    for label, rate in (("24 KiB: 192 GB/s", 192), ("384 KiB: 96 GB/s", 96), ("96 MiB: 12 GB/s", 12)):
        x, y = drawn[label].get_data()
        assert np.allclose(y, np.minimum(96, rate * np.asarray(x)))
        assert 96 / rate in x, "the knee is drawn"
        assert min(y) < 96 == max(y)
    assert [float(v[0]) for v in drawn["ikj"].get_data()] == [0.5, 20.0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_title(loc="left") == "96 GFLOP/s with 2 threads, measured on a CPU"


def test_without_programs():
    assert len(cpu_roofline(PEAK).lines) == 3
    assert describe_cpu_roofline(PEAK).endswith("192 GB/s from 24 KiB and 96 GB/s from 384 KiB and 12 GB/s from 96 MiB.")


def test_a_roof_that_a_program_exceeds_is_not_drawn():
    with pytest.raises(CourseError, match="blas: faster than the peak of 96 GFLOP/s, which is then none"):
        cpu_roofline(PEAK, {"ikj": (0.5, 20.0), "blas": (40.0, 130.0)})
