# main_lines_that_meet.py -- another right solution: a level through the flat part, a line through the rest, and where they meet
#
# Part             main
import numpy as np


def throughput_and_knee(steps, warps, cycles):
    last_flat = max(i for i, c in enumerate(cycles) if c < 1.1 * min(cycles))
    level = np.median(cycles[:last_flat + 1])
    slope, origin = np.polyfit(warps[last_flat + 1:], cycles[last_flat + 1:], 1)
    return 32 * steps / slope, (level - origin) / slope
