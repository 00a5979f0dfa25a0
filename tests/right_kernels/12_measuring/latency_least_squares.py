# latency_least_squares.py -- another right solution: the slope of a line through all lengths
#
# Part             latency
import numpy as np


def latency(chains):
    steps, start, end = np.array(chains).T
    return np.polyfit(steps, end - start, 1)[0]
