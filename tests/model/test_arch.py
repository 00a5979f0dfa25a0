"""The device table: derived peaks against those that NVIDIA quotes, and the relations that hold in every row."""

import pytest

from course_lib.arch import DEFAULT_DEVICE, DEVICES, LIMITS, TENSOR, UNITS, WARP, device
from course_lib.errors import CourseError
from course_lib.kernels import KERNELS

# GFLOP/s as the data sheets print them: single, double precision.
QUOTED = {
    "H200": (67_000, 34_000), "H100 SXM": (67_000, 34_000), "RTX 5090": (104_800, 1_637), "RTX 4090": (82_600, 1_290),
    "RTX 3090": (35_600, 556), "A100 40GB": (19_500, 9_700), "T4": (8_100, 254), "V100 SXM2": (15_700, 7_800),
    "GTX 1080": (8_873, 277), "Tesla K80": (4_110, 1_370), "GTX 690": (3_130, 130), "GTX 285": (708, 89),
    "Tesla C1060": (622, 78), "GTX 295": (596, 74.5), "Tesla K40": (4_290, 1_430), "Quadro M2200": (2 * 1_061, 2 * 33),
}


@pytest.mark.parametrize("name", DEVICES)
def test_the_derived_peaks_are_those_that_are_quoted(name):
    single, double = QUOTED[name]
    assert DEVICES[name].peak_gflops == pytest.approx(single, rel=0.01)
    assert DEVICES[name].peak_gflops_double == pytest.approx(double, rel=0.02)


@pytest.mark.parametrize(("name", "tf32", "bf16", "clock"), [
    ("H200", 494_700, 989_400, 1830), ("H100 SXM", 494_700, 989_400, 1830), ("A100 40GB", 156_000, 312_000, 1410),
    ("RTX 3090", 35_600, 71_000, 1695), ("RTX 4090", 82_600, 165_200, 2520), ("RTX 5090", 104_800, 209_500, 2407)])
def test_the_peaks_of_tensor_cores_are_those_that_are_quoted(name, tf32, bf16, clock):
    d = DEVICES[name]
    for number, quoted in (("tf32", tf32), ("bf16", bf16)):
        assert d.peak_gflops_tensor(number) * clock / d.clock_mhz == pytest.approx(quoted, rel=0.01)


def test_tensor_cores_take_these_numbers_where_the_kernels_say():
    needs = {kernel.needs for kernel in KERNELS.values() if kernel.inputs and not kernel.boxes}
    assert needs == {min(TENSOR)}
    assert all((d.peak_gflops_tensor("tf32") > 0) == (d.cc >= (8, 0)) for d in DEVICES.values())


@pytest.mark.parametrize("d", DEVICES.values(), ids=DEVICES)
def test_every_row_has_a_source_and_limits(d):
    assert "NVIDIA" in d.source
    assert d.limits is LIMITS[d.cc]
    assert d.threads_per_sm == d.limits.warps * WARP
    assert d.balance == pytest.approx(d.peak_gflops / d.bandwidth_gb_s)


@pytest.mark.parametrize("d", DEVICES.values(), ids=DEVICES)
def test_every_chip_has_the_units_of_its_capability(d):
    assert UNITS[d.cc] == (d.cores_per_sm, d.cores_per_sm * d.dp_ratio)
    assert set(UNITS) == set(LIMITS)


@pytest.mark.parametrize("limits", LIMITS.values(), ids=[f"CC {a}.{b}" for a, b in LIMITS])
def test_the_limits_fit_together(limits):
    assert limits.shared_per_block + limits.shared_reserved <= limits.shared
    assert limits.static_shared <= limits.shared_per_block
    assert limits.shared % limits.shared_unit == limits.shared_per_block % limits.shared_unit == 0
    assert limits.threads_per_block <= limits.warps * WARP
    assert limits.registers % (limits.register_unit * limits.warp_unit) == 0


def test_a_device_is_found_whatever_its_case():
    assert device("rtx 4090") is DEVICES["RTX 4090"]
    assert DEFAULT_DEVICE is device("H200")


def test_an_unknown_device_lists_those_there_are():
    with pytest.raises(CourseError) as caught:
        device("RTX 9090")
    assert all(name in str(caught.value) for name in DEVICES)
