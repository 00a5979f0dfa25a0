# by_the_block.py -- another right solution: what the block loads and does for one k
#
# Part             costs
def costs(threads, vectors, columns):
    rows = threads * vectors
    return columns * vectors, columns / (columns * vectors), (rows + columns) / (rows * columns)
