# predict_raises.py -- divides by the offset
#
# Part             predict
# Must fail for    error: ZeroDivisionError
def sectors(stride, offset):
    return 128 * stride // 32 + 1 // offset
