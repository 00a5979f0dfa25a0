# element_nan.py -- returns no numbers
#
# Part             element
# Must fail for    wrong: not right
def element(block_x, block_y, warp, lane, bx, by):
    return float("nan"), float("nan")
