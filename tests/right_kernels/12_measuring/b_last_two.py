# b_last_two.py -- another right solution: what the last 256 threads cost more, and where that line meets the flat part
#
# Part             main-b
from fractions import Fraction


def bytes_and_knee(steps, threads, cycles):
    slope = Fraction(cycles[-1] - cycles[-2], threads[-1] - threads[-2])
    flat = sorted(cycles)[1]
    return float(4 * steps / slope), float(threads[-1] - (cycles[-1] - flat) / slope)
