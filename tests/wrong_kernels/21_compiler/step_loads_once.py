# step_loads_once.py -- lets each number be loaded once, whoever needs it
#
# Part             step
# Must fail for    wrong: what several warps need
def step(BM, BN, BK, size, rows, cols):
    stored = (BM + BN) * BK * size / 128
    return stored, stored
