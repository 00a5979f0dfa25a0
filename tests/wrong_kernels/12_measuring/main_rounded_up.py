# main_rounded_up.py -- whole warps only
#
# Part             main
# Must fail for    wrong: Do not round
import math


def throughput_and_knee(steps, warps, cycles):
    rate = 32 * warps[-1] * steps / cycles[-1]
    return rate, math.ceil(min(cycles) / steps * rate / 32)
