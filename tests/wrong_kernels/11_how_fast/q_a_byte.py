# q_a_byte.py -- operations for a byte instead of an element
#
# Part             q
# Must fail for    wrong: That is operations for each byte; an element has 8
def q(gflops, gb_s, element_bytes, TA, TB):
    return gflops / gb_s, 2 * TA * TB / (TA + TB)
