# element_warp_is_a_row.py -- takes a warp for a row of the block
#
# Part             element
# Must fail for    wrong: That takes a warp for a row of the block
def element(block_x, block_y, warp, lane, bx, by):
    return block_y * by + warp, block_x * bx + lane
