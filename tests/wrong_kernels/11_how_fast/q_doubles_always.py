# q_doubles_always.py -- takes 8 bytes for an element of any type
#
# Part             q
# Must fail for    wrong: That is for elements of 8 bytes; here they have 4
def q(gflops, gb_s, element_bytes, TA, TB):
    return gflops / gb_s * 8, 2 * TA * TB / (TA + TB)
