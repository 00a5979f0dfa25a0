# q_one_number.py -- returns the first number alone
#
# Part             q
# Must fail for    wrong: must return a tuple of two numbers
def q(gflops, gb_s, element_bytes, TA, TB):
    return gflops / gb_s * element_bytes
