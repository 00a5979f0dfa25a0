# bound_by_lists.py -- adds up by arrays
#
# Part             bound
import numpy as np


def bound(blocks):
    a, sa, b, sb = np.array(blocks).T
    return float((sa * b + sb * a).sum() / 254 + 32 * (a @ b) / 254**2)
