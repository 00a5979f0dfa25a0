# element_different.py -- another right solution: divmod, and NumPy numbers
#
# Part             element
import numpy as np


def element(block_x, block_y, warp, lane, bx, by):
    y, x = np.unravel_index(32 * warp + lane, (by, bx))
    return np.int64(block_y) * by + y, np.int64(block_x) * bx + x
