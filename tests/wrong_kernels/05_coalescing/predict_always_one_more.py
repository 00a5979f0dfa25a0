# predict_always_one_more.py -- one sector more for every offset
#
# Part             predict
# Must fail for    wrong: only where it moves the last lane into a new one
def sectors(stride, offset):
    return min(32, 4 * stride + (offset > 0))
