"""Koppelman's columns, counted out on small sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.arch import device
from course_lib.data.documents import KOPPELMAN_COUNTED
from course_lib.model import InputError, matvec

small = st.integers(1, 12)


@given(small, small, small)
def test_as_counted_in_loops(S, M, N):
    fmas = sum(1 for _ in range(S) for _ in range(M) for _ in range(N))
    moved = 4 * sum(M + N for _ in range(S))
    assert matvec.gigafmas(2.0, S, M, N) == pytest.approx(fmas / 2e9)
    assert matvec.gigabytes(2.0, S, M, N) == pytest.approx(moved / 2e9)
    assert matvec.write_rate(0.5, S, M) == pytest.approx(4 * S * M / 0.5e9)
    assert matvec.instructions_per_fma(3 * fmas, S, M, N) == pytest.approx(3)
    assert matvec.least_instructions_per_fma(M, N) == pytest.approx(1 + 1 / M + 1 / N)


def test_what_the_l2_cache_did_for_the_scattered_loads():
    """Problem 1 on the document's own table: the L2 serves almost all of an eightfold read, better with more warps."""
    rows = [dict(zip(KOPPELMAN_COUNTED.columns, row, strict=True)) for row in KOPPELMAN_COUNTED.rows]
    l2, dram = ([matvec.times_ideal(row[name], row["us"] * 1e-6) for row in rows] for name in ("L2 read", "DRAM read"))
    assert all(8 <= times < 8.8 for times in l2)              # 32 bytes for each 4
    assert all(1 < times < 1.7 for times in dram)
    assert dram[-1] < 1.15 < 1.3 < dram[0]


def test_a_bar_is_full_at_the_bandwidth():
    card = device("Quadro M2200")
    assert [len(matvec.bar(rate, card, 20)) for rate in (0, 44.05, 88.1)] == [0, 10, 20]


@pytest.mark.parametrize("call", [lambda: matvec.gigafmas(0), lambda: matvec.gigabytes(float("nan")),
                                  lambda: matvec.request_utilisation(5, 4), lambda: matvec.request_utilisation(0, 0)])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()
