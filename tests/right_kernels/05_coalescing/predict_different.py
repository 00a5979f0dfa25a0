# predict_different.py -- another right solution: a formula instead of looking at every lane
#
# Part             predict
def sectors(stride, offset):
    if stride >= 8:
        return 32
    return (offset + 31 * stride) // 8 - offset // 8 + 1
