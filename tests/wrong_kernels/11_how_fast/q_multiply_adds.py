# q_multiply_adds.py -- counts multiply-adds of the tile, and operations of the machine
#
# Part             q
# Must fail for    wrong: That counts multiply-adds; each is two operations
def q(gflops, gb_s, element_bytes, TA, TB):
    return gflops / gb_s * element_bytes, TA * TB / (TA + TB)
