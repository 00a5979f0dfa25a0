"""The strided copy: every n, stride, offset and width against NumPy, its sectors against the model, its refusals."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.model import sectors
from course_lib.run import run, run_gather
from course_lib.run.copies import needed


def wanted(values, n, stride, offset, VEC):
    """Return what the copy gives, element by element in Python."""
    return [values[offset + i // VEC * VEC * stride + i % VEC] for i in range(n)]


@pytest.mark.parametrize("VEC", [1, 2, 4])
@pytest.mark.parametrize(("stride", "offset"), [(1, 0), (1, 4), (3, 8), (32, 0), (7, 12)])
def test_it_copies_what_it_says(VEC, stride, offset):
    for n in (1, 2, 3, 31, 64, 65, 257):
        far = {"stride": stride, "offset": offset, "VEC": VEC}
        values = np.random.default_rng(n).standard_normal(needed(n, **far)).astype(np.float32)
        result = run_gather("copy_strided", values, n, backend="sim", threads=64, **far)
        assert result.out.tolist() == wanted(values, n, **far)
        assert result.gb_s is None


@pytest.mark.parametrize("VEC", [1, 2, 4])
@pytest.mark.parametrize("stride", [1, 2, 3, 8, 33])
@pytest.mark.parametrize("offset", [0, 4, 8, 20])
def test_its_sectors_are_the_models(VEC, stride, offset):
    n = 32 * VEC * 4
    values = np.zeros(needed(n, stride, offset, VEC), np.float32)
    result = run_gather("copy_strided", values, n, backend="sim", VEC=VEC, stride=stride, offset=offset)
    lanes = 4 * VEC * stride * np.arange(32) + 4 * offset
    expected = sum(sectors(lanes + 32 * 4 * VEC * stride * w, width=4 * VEC) for w in range(4))
    assert result.count("sectors") == expected
    assert result.count("requests") == 4
    assert result.useful_share == pytest.approx(4 * n / (32 * expected))
    assert result.sectors_per_request("store") == 4 * VEC


def test_one_float_of_offset_costs_a_sector():
    values = np.zeros(100_000, np.float32)
    aligned, shifted = (run_gather("copy_strided", values, 1 << 12, backend="sim", offset=offset) for offset in (0, 1))
    assert (aligned.sectors_per_request(), shifted.sectors_per_request()) == (4, 5)
    assert "100.0% of the fetched bytes" in repr(aligned)
    assert "80.0% of the fetched bytes" in repr(shifted)


def test_as_many_as_there_are():
    values = np.arange(100, dtype=np.float32)
    for far in ({"stride": 3}, {"stride": 2, "VEC": 4, "offset": 8}, {"offset": 99}):
        result = run_gather("copy_strided", values, backend="sim", **far)
        assert needed(result.n, **far) <= 100 < needed(result.n + far.get("VEC", 1), **far)
        assert result.out.tolist() == wanted(values, result.n, far.get("stride", 1), far.get("offset", 0), far.get("VEC", 1))


@pytest.mark.parametrize(("n", "far", "said"), [
    (8, {"stride": 2}, "reach over 15, but values has 10"), (0, {}, "0 floats"), (None, {"offset": 16}, "values has 10"),
    (4, {"VEC": 3}, "one load moves 1, 2 or 4 floats"),
    (4, {"VEC": 4, "offset": 2}, "offset can be any multiple of 4, for example 0 or 4")])
def test_what_cannot_be_copied_says_why(n, far, said):
    with pytest.raises(CourseError, match=said):
        run_gather("copy_strided", np.zeros(10, np.float32), n, backend="sim", **far)


def test_wrong_arrays_and_wrong_doors():
    with pytest.raises(CourseError, match="float64 of shape"):
        run_gather("copy_strided", np.zeros(10))
    with pytest.raises(CourseError, match="one-dimensional"):
        run_gather("copy_strided", np.zeros((2, 2), np.float32))
    with pytest.raises(CourseError, match="not 'gather'"):
        run_gather("transpose", np.zeros(10, np.float32))
    with pytest.raises(CourseError, match="run_gather runs it"):
        run("copy_strided", np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32))
