# plan_by_bytes.py -- divides the bytes by a step
#
# Part             plan
import math


def plan(BM, BN, BK, latency):
    per_cycle = 1024 * (1 / BM + 1 / BN)
    return math.ceil(round(per_cycle * latency / (8 * BK * (BM + BN)), 9)) + 1, per_cycle * latency
