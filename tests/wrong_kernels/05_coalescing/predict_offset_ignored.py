# predict_offset_ignored.py -- the formula for offset 0
#
# Part             predict
# Must fail for    wrong: That is right for offset 0
def sectors(stride, offset):
    return min(32, 4 * stride)
