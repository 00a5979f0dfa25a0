"""The live device, read from a stand-in for the driver, and from the driver where there is one."""

import pytest

from course_lib.arch import DEVICES
from course_lib.errors import CourseError
from course_lib.gpu import live, live_device
from course_lib.lessons.matrix_vector.device import homework_report
from course_lib.plots import device_report


class Driver:
    """Answers like CuPy's runtime, for a GTX 1080."""

    answers = {live.CLOCK_KHZ: 1733000, live.SMS: 20, live.MEMORY_KHZ: 5005000, live.BUS_BITS: 256, live.L2_BYTES: 2 << 20,
               live.MAJOR: 6, live.MINOR: 1}

    def deviceGetAttribute(self, attribute, number):  # noqa: N802
        return self.answers[attribute]

    def getDeviceProperties(self, number):  # noqa: N802
        return {"name": b"GeForce GTX 1080"}


class NoDriver:
    def deviceGetAttribute(self, attribute, number):  # noqa: N802
        raise RuntimeError("cudaErrorNoDevice")        # CuPy's CUDARuntimeError is one


def test_as_the_row_of_the_table():
    found, row = live_device(Driver()), DEVICES["GTX 1080"]
    assert (found.cc, found.sms, found.cores_per_sm, found.l2_bytes) == (row.cc, row.sms, row.cores_per_sm, row.l2_bytes)
    assert found.peak_gflops == pytest.approx(row.peak_gflops)
    assert found.peak_gflops_double == pytest.approx(row.peak_gflops_double)
    assert found.bandwidth_gb_s == pytest.approx(row.bandwidth_gb_s, rel=0.002)
    assert "GPU 1: GeForce GTX 1080 @ 1.73 GHz WITH 8192 MiB" in homework_report(found, 8 << 30, number=1)
    assert device_report(found).header == ("", "GeForce GTX 1080")


def test_an_unknown_capability_and_no_driver_are_said():
    strange = Driver()
    strange.answers = Driver.answers | {live.MAJOR: 99}
    with pytest.raises(CourseError, match=r"compute capability 99\.1"):
        live_device(strange)
    with pytest.raises(CourseError, match="no GPU to report on: cudaErrorNoDevice"):
        live_device(NoDriver())


def test_a_fault_of_ours_is_not_reported_as_a_missing_gpu():
    with pytest.raises(AttributeError):
        live_device(object())


def test_on_this_machine(gpu):
    found = live_device()
    assert found.name == gpu.name
    assert (found.cc, found.sms) == (gpu.cc, gpu.multiprocessors)
    assert found.peak_gflops > 1000
    assert 50 < found.bandwidth_gb_s < 20000
