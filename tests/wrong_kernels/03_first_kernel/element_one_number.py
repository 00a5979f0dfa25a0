# element_one_number.py -- returns the place in the block as one number
#
# Part             element
# Must fail for    wrong: must return a tuple of two numbers
def element(block_x, block_y, warp, lane, bx, by):
    return 32 * warp + lane
