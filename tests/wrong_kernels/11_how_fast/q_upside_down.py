# q_upside_down.py -- elements for an operation
#
# Part             q
# Must fail for    wrong: That is upside down: elements for an operation
def q(gflops, gb_s, element_bytes, TA, TB):
    return gb_s / element_bytes / gflops, (TA + TB) / (2 * TA * TB)
