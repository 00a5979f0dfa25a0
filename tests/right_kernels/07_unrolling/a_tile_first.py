# a_tile_first.py -- another right solution: counts a whole tile, then divides
#
# Part             predict
from fractions import Fraction


def instructions(unroll, BK, loads, loop, once):
    turns = BK // unroll
    total = Fraction(loads) * BK + BK + once
    for _ in range(turns if turns > 1 else 0):
        total += loop
    return float(total / BK)
