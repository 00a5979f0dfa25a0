# element_exchanged.py -- returns the column first
#
# Part             element
# Must fail for    wrong: That is (col, row)
def element(block_x, block_y, warp, lane, bx, by):
    thread = 32 * warp + lane
    return block_x * bx + thread % bx, block_y * by + thread // bx
