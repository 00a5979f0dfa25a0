# predict_lines.py -- counts lines of 128 bytes
#
# Part             predict
# Must fail for    wrong: That counts lines of 128 bytes
def sectors(N, chunk, k):
    return len({(N * (lane // chunk) + k + lane % chunk) // 32 for lane in range(32)})
