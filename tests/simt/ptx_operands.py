"""Operands for instruction forms: adversarial values first, then random ones with all counts of leading bits."""

import random
from functools import cache

from course_lib.simt.model import softfloat as sf
from course_lib.simt.model.types import width


def literal(text):
    """Return the value of a PTX literal: an integer, or the bits of a float."""
    return int(text[2:], 16) if text[:2] in ("0f", "0d") else int(text, 0)


@cache
def integers(bits):
    """Adversarial values of an integer register."""
    top = 1 << (bits - 1)
    found = {0, 1, 2, 3, 7, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 0x55, 0xAA, 1 << (bits // 2), (1 << (bits // 2)) - 1}
    found |= {0xFF, 0x80, 0x7F, 0x7FFF, 0x8000, 0xFFFF, 0xFFFFFF, 0x800000, 0x1010001}
    found |= {2 * top - v for v in (3, 0x80, 0x81, 0x8000, 0x8001, 1 << (bits // 2))}
    return sorted({v & (2 * top - 1) for v in found})


@cache
def floats(kind):
    """Adversarial values of a float: zeros, subnormals, infinities, NaNs, halves, ends of integers, ties of shorter floats."""
    f = sf.FORMATS[kind]
    half = [sf.from_integer(kind, n) for n in (1, 2, 3, 5, 7, 255, 32768, 65520)]
    half += [b - (1 << f.fraction) for b in half]
    edges = [0, 1, (1 << f.fraction) - 1, 1 << f.fraction, f.infinity - 1, f.infinity]
    nan = [f.infinity + 1, f.infinity + (1 << f.fraction - 1), f.infinity + (1 << f.fraction) - 1]
    near = [b + d for b in half[:2] for d in (-1, 1)]
    ends = [sf.from_integer(kind, (1 << n) + d, "rz") for n in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, 0, 1)
            if n < 1 << f.exponent - 1]
    numbers = {b for b in half + edges + nan + near + ends + ties(kind) if b < 1 << f.width - 1}
    return sorted(numbers | {b | 1 << f.width - 1 for b in numbers})


def ties(kind):
    """Numbers at and next to the middle between two neighbours of a shorter format, its subnormals included."""
    f, found = sf.FORMATS[kind], []
    for shorter, g in sf.FORMATS.items():
        if g.fraction < f.fraction and g.exponent <= f.exponent:
            exact = [sf.convert(kind, shorter, b) for b in (0, 1, 2, (1 << g.fraction) - 1, 1 << g.fraction, g.infinity - 1)]
            exact.append(sf.from_integer(kind, 3))
            found += exact
            for b in exact[-3:]:
                found += [b + (1 << f.fraction - g.fraction - 1) + d for d in (-1, 0, 1)]
    return found


def random_bits(rng, bits):
    """Return a number with, half of the time, a random count of leading zeros or ones."""
    value = rng.getrandbits(bits)
    if rng.random() < 0.5:
        value >>= rng.randrange(bits)
        if rng.random() < 0.5:
            value ^= (1 << bits) - 1
    return value


def draw(kind, rng):
    """Return one operand of a kind; about half are adversarial."""
    if kind in ("pred", "npred"):
        return rng.getrandbits(1)
    if kind == "n":
        return rng.choice((0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, 0xFFFFFFFF, rng.randrange(70)))
    if kind == "c":
        return rng.choice((0, 1, 31, 32, 33, 63, 64, 65, 255, 0x100, 0xFFFFFF20, *(rng.randrange(70) for _ in range(12))))
    bits = width(kind)
    if rng.random() < 0.6:
        return rng.choice(special(kind))
    if kind in sf.FORMATS and rng.random() < 0.6:  # near 1
        fraction = sf.FORMATS[kind].fraction
        return sf.from_integer(kind, 1) + rng.randrange(-(2 << fraction), 2 << fraction)
    return random_bits(rng, bits)


def special(kind):
    return floats(kind) if kind in sf.FORMATS else integers(width(kind))


def operands(form, n, seed=1):
    """Return n tuples of source bits; where it fits, all adversarial values, or a sample of all pairs, are among them."""
    rng = random.Random(f"{form.text} {seed}")
    rows = [tuple(literal(k[1:]) if k[0] == "=" else draw(k, rng) for k in form.src) for _ in range(n)]
    plain = [k for k in form.src if k not in ("n", "c", "pred", "npred") and k[0] != "="]
    if len(plain) == len(form.src) == 1:
        rows[:len(special(plain[0]))] = [(v,) for v in special(plain[0])]
    elif len(plain) == len(form.src) == 2:
        first, second = (special(k) for k in plain)
        rows[:n // 2] = [(rng.choice(first), rng.choice(second)) for _ in range(n // 2)]
    return rows[:n]
