# predict_lines.py -- counts lines of 128 bytes
#
# Part             predict
# Must fail for    wrong: lines of 128 bytes
def sectors(stride, offset):
    return len({(offset + stride * lane) // 32 for lane in range(32)})
