"""What a product costs beside its multiply-adds, against counts worked out by hand."""

import dataclasses

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.lessons.tensor_cores.costs import costs_of, costs_table
from course_lib.run import run

GEN = np.random.default_rng(5)
A, B = GEN.standard_normal((128, 128), np.float32), GEN.standard_normal((128, 128), np.float32)


@pytest.mark.slow
def test_the_kernel_by_mma():
    """A warp of 64 × 32 reads (64 · 8 + 8 · 32) words for 64 · 32 · 8 multiply-adds; the block stores its tiles once."""
    found = costs_of(run("sgemm_mma", A, B, backend="sim"))
    loads = (64 * 8 + 8 * 32) / 32 / (64 * 32 * 8 / 32)
    stores = (128 * 32 + 32 * 128) / 32 / (128 * 128 * 32 / 32)
    assert found.wavefronts == pytest.approx(loads + stores)
    assert found.each == 32
    assert found.cycles == pytest.approx(found.wavefronts * 1024 / 32)
    assert 0 < found.instructions < 0.5


@pytest.mark.slow
def test_a_split_counts_the_multiply_adds_of_the_product():
    split, bf16 = (costs_of(run(name, A, B, backend="sim")) for name in ("sgemm_split", "sgemm_bf16"))
    assert (bf16.each, split.each) == (64, pytest.approx(64 / 6))
    assert split.wavefronts == pytest.approx(3 * bf16.wavefronts)
    assert split.cycles == pytest.approx(split.wavefronts * 2048 / 32 / 6)
    assert split.instructions > bf16.instructions


@pytest.mark.slow
def test_without_tensor_cores():
    found = costs_of(run("sgemm_warp_tile", A, B, backend="sim"))
    assert (found.each, found.numbers) == (1, "float32")
    assert found.instructions > 1
    assert found.cycles == pytest.approx(4 * found.wavefronts)
    assert costs_table([found]).rows[0][:3] == ("sgemm_warp_tile", "float32", "1")


@pytest.mark.slow
def test_refusals():
    result = run("sgemm_mma", A, B, backend="sim")
    with pytest.raises(CourseError, match="no counters"):
        costs_of(dataclasses.replace(result, counters=None))
    with pytest.raises(CourseError, match="tensor cores of T4"):
        costs_of(dataclasses.replace(result, device="T4"))
