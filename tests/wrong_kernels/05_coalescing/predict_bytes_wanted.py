# predict_bytes_wanted.py -- counts the wanted bytes
#
# Part             predict
# Must fail for    wrong: 4 sectors hold the 128 bytes that are wanted
def sectors(stride, offset):
    return 4 + (offset % 8 > 0) * (stride == 1)
