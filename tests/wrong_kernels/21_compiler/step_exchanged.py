# step_exchanged.py -- exchanges which warps need a row of A
#
# Part             step
# Must fail for    wrong: a row of A is needed
def step(BM, BN, BK, size, rows, cols):
    return (BM + BN) * BK * size / 128, (rows * BM + cols * BN) * BK * size / 128
