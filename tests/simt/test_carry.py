"""Arithmetic wider than a register: the carry flag, and `__int128`, against Python's integers."""

import random

import numpy as np
import pytest
from launching import launch
from ptx_operands import integers
from ptx_text import HEAD

from course_lib import simt

N = 96


def words(seed, bits, n=N):
    """Adversarial and random words."""
    rng, special = random.Random(seed), integers(bits)
    return [rng.choice(special) if rng.random() < 0.6 else rng.getrandbits(bits) for _ in range(n)]


def run(body, columns, bits, racecheck):
    """Run PTX in which %a, %b, %c, %e are a thread's words; return the columns of %x, %y, %z as lists of integers."""
    loads = "\n".join(f"ld.global.u{bits} %{r}, [%at+{8 * N * i}];" for i, r in enumerate("abce"))
    stores = "\n".join(f"st.global.u{bits} [%to+{8 * N * i}], %{r};" for i, r in enumerate("xyz"))
    text = f"""{HEAD}.visible .entry k(.param .u64 src, .param .u64 dst) {{
        .reg .b{bits} %a, %b, %c, %e, %x, %y, %z; .reg .b64 %at, %to; .reg .b32 %t; .reg .pred %odd;
        ld.param.u64 %at, [src]; ld.param.u64 %to, [dst]; mov.u32 %t, %tid.x;
        mad.wide.u32 %at, %t, 8, %at; mad.wide.u32 %to, %t, 8, %to; and.b32 %t, %t, 1; setp.eq.u32 %odd, %t, 1;
        mov.b{bits} %x, 0; mov.b{bits} %y, 0; mov.b{bits} %z, 0;
        {loads} {body} {stores} ret; }}"""
    src, dst = np.array(columns, np.uint64), np.zeros((3, N), np.uint64)
    simt.launch(text, "k", 1, N, [src, dst], workers=1, racecheck=racecheck)
    return [[int(v) for v in row] for row in dst]


CHAINS = {  # text with {t} for the type -> value of (x, y, z) as one integer of three words
    "sum": ("add.cc.{t} %x, %a, %b; addc.cc.{t} %y, %c, %e; addc.{t} %z, 0, 0;", lambda n, a, b, c, e: (c << n | a) + (e << n | b)),
    "difference": ("sub.cc.{t} %x, %a, %b; subc.cc.{t} %y, %c, %e; subc.{t} %z, 0, 0;", lambda n, a, b, c, e: (c << n | a) - (e << n | b)),
    "product": ("mad.lo.cc.{t} %x, %a, %b, %c; madc.hi.cc.{t} %y, %a, %b, %e; addc.{t} %z, 0, 0;",
        lambda n, a, b, c, e: a * b + c + (e << n)),
    "upper first": ("mad.hi.cc.{t} %x, %a, %b, %c; madc.lo.cc.{t} %y, %a, %b, %e; madc.lo.{t} %z, 0, 0, 0;",
                    lambda n, a, b, c, e: (a * b >> n) + c + (((a * b & (1 << n) - 1) + e) << n)),
    "kept over others": ("add.cc.{t} %x, %a, %b; add.{t} %z, %a, %c; mul.lo.{t} %z, %z, %z; addc.{t} %y, %c, %e; mov.b{n} %z, 0;",
                         lambda n, a, b, c, e: ((c << n | a) + (e << n | b)) % (1 << 2 * n)),
}


@pytest.mark.sampled(test=5)
@pytest.mark.parametrize("racecheck", [False, True])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", sorted(CHAINS))
def test_chains(name, bits, racecheck):
    text, value = CHAINS[name]
    columns = [words(f"{name} {i}", bits) for i in range(4)]
    found = run(text.format(t=f"u{bits}", n=bits), columns, bits, racecheck)
    for given, x, y, z in zip(zip(*columns), *found):
        assert z << 2 * bits | y << bits | x == value(bits, *given) % (1 << 3 * bits), (name, given)


def test_each_lane_has_its_own_flag():
    """Only odd lanes set it again; signed types carry as unsigned ones do; a difference sets it when there is no borrow."""
    body = "add.cc.s32 %x, %a, %b; @%odd sub.cc.s32 %x, %a, %b; addc.s32 %y, 0, 0;"
    columns = [words(f"flags {i}", 32) for i in range(4)]
    _, flags, _ = run(body, columns, 32, False)
    assert flags == [int(a >= b) if i % 2 else a + b >> 32 for i, (a, b) in enumerate(zip(*columns[:2]))]


INT128 = """
extern "C" __global__ void f(const unsigned long long* in, unsigned long long* out, int n) {
    int i = threadIdx.x;
    unsigned __int128 a = (unsigned __int128)in[i] << 64 | in[n + i], b = (unsigned __int128)in[2 * n + i] << 64 | in[3 * n + i];
    __int128 s = (__int128)a, t = (__int128)b;
    int k = in[i] & 127;
    unsigned __int128 r[] = {a + b, a - b, a * b, a << k, a >> k, (unsigned __int128)(s >> k), (unsigned __int128)(s < t),
                             (unsigned __int128)__mul64hi(in[i], in[n + i]), a / (b | 1), (unsigned __int128)(s % (t | 1))};
    for (int j = 0; j < 10; ++j) {
        out[(2 * j) * n + i] = r[j] >> 64;
        out[(2 * j + 1) * n + i] = r[j];
    }
}"""


@pytest.mark.slow
def test_integers_of_128_bits():
    columns = [words(f"int128 {i}", 64) for i in range(4)]
    out = np.zeros((20, N), np.uint64)
    launch(INT128, [np.array(columns, np.uint64), out, np.int32(N)], block=N, options=("--device-int128",))

    def signed(v, n=128):
        return v - (1 << n) if v >> n - 1 else v

    for i, (ah, al, bh, bl) in enumerate(zip(*columns)):
        a, b, k = ah << 64 | al, bh << 64 | bl, ah & 127
        s, t, d = signed(a), signed(b), signed(b | 1)
        rest = abs(s) % abs(d) * (1 if s >= 0 else -1)
        high = signed(ah, 64) * signed(al, 64) >> 64
        expected = [a + b, a - b, a * b, a << k, a >> k, s >> k, int(s < t), high % (1 << 64), a // (b | 1), rest]
        got = [int(out[2 * j, i]) << 64 | int(out[2 * j + 1, i]) for j in range(10)]
        mask = (1 << 128) - 1
        if got[7] >> 64:
            got[7] &= (1 << 64) - 1
        assert got == [v & mask for v in expected], (hex(a), hex(b))
