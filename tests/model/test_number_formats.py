"""What short formats keep of a number: held to exact arithmetic on their neighbours, and to the instructions that the simulator runs."""

from fractions import Fraction

import numpy as np
import pytest

from course_lib import simt
from course_lib.model import InputError
from course_lib.model.number_formats import (
    FORMATS,
    FP8,
    bits,
    from_bf16,
    from_e4m3,
    parts,
    round_to,
    round_to_bits,
    round_to_eight,
    to_bf16,
    to_e4m3,
)

CVT = r"""
extern "C" __global__ void k(const float* x, unsigned* tf32, unsigned* bf16) {
    const int n = blockIdx.x * 32 + threadIdx.x;
    unsigned short half;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32[n]) : "f"(x[n]));
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(x[n]));
    bf16[n] = half << 16;
}
"""
NASTY = [0, 0x80000000, 1, 0xFFF, 0x1000, 0x1FFF, 0x3000, 0x7FFF, 0x8000, 0x8001, 0x18000, 0x3F800FFF, 0x3F801000, 0x3F803000, 0x3F808000,
         0x3F818000, 0x3FFFFFFF, 0xBFFFFFFF, 0x7F7FFFFF, 0x7F7FEFFF, 0x7F7FF000, 0x7F7F7FFF, 0x7F7F8000, 0x007FFFFF, 0x00800000]


def numbers():
    """Return 32 * n float32 from random bits without NaN or infinity, the nasty ones among them."""
    random = np.random.default_rng(11).integers(0, 2**32, 32 * 128 - len(NASTY), dtype=np.uint32)
    x = np.concatenate([np.uint32(NASTY), random]).view(np.float32)
    return np.where(np.isfinite(x), x, np.float32(1.5))


def test_they_round_as_the_instructions_do():
    x = numbers()
    tf32, bf16 = np.zeros(len(x), np.uint32), np.zeros(len(x), np.uint32)
    simt.launch(CVT, "k", len(x) // 32, 32, [x, tf32, bf16])
    assert np.array_equal(round_to(x, "tf32").view(np.uint32), tf32)
    assert np.array_equal(round_to(x, "bf16").view(np.uint32), bf16)


def nearest(value, mantissa, tie_away):
    """Round an exact number from 1 to 4 to so many bits behind the point."""
    step = Fraction(2 if value >= 2 else 1, 2**mantissa)
    below = value // step * step
    rest = value - below
    up = rest > step / 2 or rest == step / 2 and (tie_away or below / step % 2 == 1)
    return below + step * up


@pytest.mark.parametrize("name", ["tf32", "bf16"])
def test_the_nearest_number_is_taken(name):
    random = (1 + np.random.default_rng(3).random(300, np.float32)).tolist()
    x = random + [1 + k * 2**-11 for k in range(64)] + [1 + k * 2**-8 for k in range(9)]
    for value in x:
        expected = nearest(Fraction(value), FORMATS[name].mantissa, name == "tf32")
        assert Fraction(float(round_to(value, name))) == expected
        assert round_to(-value, name) == -round_to(value, name)
        assert abs(round_to(value, name) - value) <= FORMATS[name].unit * value


@pytest.mark.parametrize("name", ["tf32", "bf16"])
def test_cutting_never_makes_a_number_larger(name):
    x = numbers()
    cut = round_to(x, name, cut=True)
    assert (np.abs(cut) <= np.abs(x)).all()
    assert (cut.view(np.uint32) & ((1 << FORMATS[name].dropped) - 1) == 0).all()
    large = np.abs(x) > 2.0**-126
    gap = np.abs(x[large].astype(np.float64) - cut[large])
    assert (gap < 2 * FORMATS[name].unit * np.abs(x[large])).all()


def test_nothing_happens_to_what_has_no_neighbours():
    x = np.concatenate([np.float32([np.inf, -np.inf, np.nan]), np.uint32([0x7FFFFFFF, 0x7F800001, 0xFF8000FF]).view(np.float32)])
    for name in FORMATS:
        assert np.array_equal(round_to(x, name), x, equal_nan=True)
    assert round_to(np.float32(3.4e38), "bf16") == np.inf


@pytest.mark.parametrize("cut", [False, True])
def test_three_parts_are_the_number(cut):
    x = numbers()
    x = x[(np.abs(x) > 2.0**-100) & (np.abs(x) < 2.0**127)]
    found = parts(x, cut=cut)
    assert (np.float64(found[0]) + found[1] + found[2] == x).all()
    assert (np.abs(found[1]) <= 2 * FORMATS["bf16"].unit * np.abs(x)).all()
    two = np.float64(found[0]) + found[1]
    assert (two != x).any(), "two parts are not enough for all"
    for part in found:
        assert np.array_equal(round_to(part, "bf16"), part)


def test_bits_are_written_from_the_sign_on():
    assert bits(-2.0) == "1 10000000 " + 23 * "0"
    assert bits(1 + 2**-23) == "0 01111111 " + 22 * "0" + "1"


def test_a_format_that_nobody_knows():
    with pytest.raises(InputError, match="no format 'fp8'"):
        round_to(1.0, "fp8")


def test_the_bits_of_bfloat16():
    x = numbers()
    assert np.array_equal(to_bf16(x).astype(np.uint32) << 16, round_to(x, "bf16").view(np.uint32))
    assert np.array_equal(from_bf16(to_bf16(x)).view(np.uint32), round_to(x, "bf16").view(np.uint32))
    every = np.arange(2**16, dtype=np.uint16)
    there = from_bf16(every)
    assert np.array_equal(to_bf16(there)[~np.isnan(there)], every[~np.isnan(there)])
    assert np.array_equal(there.view(np.uint32), every.astype(np.uint32) << 16), "NaN too"


def test_no_nan_becomes_infinity():
    """Some differ from infinity in bits that bfloat16 does not have."""
    for pattern in (0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFF80FFFF):
        nan = np.uint32([pattern]).view(np.float32)
        assert to_bf16(nan) == [(pattern >> 31) << 15 | 0x7FC0]
        assert np.isnan(from_bf16(to_bf16(nan)))
    assert np.array_equal(to_bf16([np.inf, -np.inf, 3.4e38]), [0x7F80, 0xFF80, 0x7F80])


def test_bits_of_another_type_are_refused():
    with pytest.raises(InputError, match="the bits of bfloat16 are uint16, not float32: make them with to_bf16"):
        from_bf16(np.float32([1]))


EIGHT = r"""
extern "C" __global__ void k(const float* x, unsigned* e4m3, unsigned* e5m2) {
    const int n = blockIdx.x * 32 + threadIdx.x;
    unsigned short a, b;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(a) : "f"(0.0f), "f"(x[n]));
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(b) : "f"(0.0f), "f"(x[n]));
    asm("{ .reg .f16 l, h; .reg .b32 t; cvt.rn.f16x2.e4m3x2 t, %1; mov.b32 {l, h}, t; cvt.f32.f16 %0, l; }" : "=r"(e4m3[n]) : "h"(a));
    asm("{ .reg .f16 l, h; .reg .b32 t; cvt.rn.f16x2.e5m2x2 t, %1; mov.b32 {l, h}, t; cvt.f32.f16 %0, l; }" : "=r"(e5m2[n]) : "h"(b));
}
"""


def test_eight_bits_round_as_the_instructions_do():
    x = np.concatenate([numbers()[:1024], np.float32(2) ** np.random.default_rng(5).uniform(-20, 17, 992).astype(np.float32),
                        np.float32([np.inf, -np.inf, 448, 464, 465, 57344, 61440, 2**-9, 2**-10, 2**-16, 2**-17, 1e-40, 0] + 19 * [-0.3])])
    found = {name: np.zeros(len(x), np.uint32) for name in FP8}
    simt.launch(EIGHT, "k", len(x) // 32, 32, [x, *found.values()], arch="sm_90")
    for name, bits_of in found.items():
        assert np.array_equal(round_to_eight(x, name).view(np.uint32), bits_of), name


def test_the_bits_of_e4m3():
    """Each of the 256 is a number's or NaN's own; whatever is rounded, ties between all neighbours too, is what `round_to_eight` gives."""
    codes = np.arange(256, dtype=np.uint8)
    values = from_e4m3(codes)
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x7F, 0xFF]
    assert np.array_equal(to_e4m3(values)[~np.isnan(values)], codes[~np.isnan(values)])
    ties = (np.sort(values[:127])[1:] + np.sort(values[:127])[:-1]) / 2
    near = [np.nextafter(ties, np.float32(limit)) for limit in (0, 1000)]
    x = np.concatenate([ties, -ties, *near, numbers(), [np.inf, 464, 1e-40]]).astype(np.float32)
    x = x[~np.isnan(x)]
    assert from_e4m3(to_e4m3(x)).tobytes() == round_to_eight(x, "e4m3").tobytes()
    assert to_e4m3([np.nan, -np.nan]).tolist() == [0x7F, 0x7F]
    with pytest.raises(InputError, match="the bits of E4M3 are uint8, not uint16: make them with to_e4m3"):
        from_e4m3(np.uint16([1]))


def test_any_number_of_bits_is_rounded_to_the_nearest():
    x = numbers()
    assert np.array_equal(round_to_bits(x, 7).view(np.uint32), round_to(x, "bf16").view(np.uint32))
    assert np.array_equal(round_to_bits(x, 23), x)
    x = np.random.default_rng(7).standard_normal(1000, np.float32)
    assert all((np.abs(round_to_bits(x, n) - x) <= 2.0 ** -(n + 1) * np.abs(x)).all() for n in range(23))
