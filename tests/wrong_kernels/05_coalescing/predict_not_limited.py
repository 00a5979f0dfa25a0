# predict_not_limited.py -- sectors from the first to the last byte, also those that no lane touches
#
# Part             predict
# Must fail for    wrong: never more than 32
def sectors(stride, offset):
    return (offset + 31 * stride) // 8 - offset // 8 + 1
