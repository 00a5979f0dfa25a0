# step_by_warp.py -- adds up over warps
#
# Part             step
def step(BM, BN, BK, size, rows, cols):
    loaded = 0
    for _ in range(rows * cols):
        loaded += (BM // rows + BN // cols) * BK * size
    return BM * BK * size / 128 + BK * BN * size / 128, loaded / 128
