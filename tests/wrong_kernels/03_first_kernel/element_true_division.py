# element_true_division.py -- a row that is no whole number
#
# Part             element
# Must fail for    wrong: returned (2.375, 3)
def element(block_x, block_y, warp, lane, bx, by):
    thread = 32 * warp + lane
    return block_y * by + thread / bx, block_x * bx + thread % bx
