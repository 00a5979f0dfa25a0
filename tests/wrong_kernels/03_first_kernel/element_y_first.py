# element_y_first.py -- counts the threads of a block along y first
#
# Part             element
# Must fail for    wrong: Threads are counted along x first
def element(block_x, block_y, warp, lane, bx, by):
    thread = 32 * warp + lane
    return block_y * by + thread % by, block_x * bx + thread // by
