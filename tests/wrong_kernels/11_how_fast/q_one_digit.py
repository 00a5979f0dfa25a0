# q_one_digit.py -- rounds what it returns
#
# Part             q
# Must fail for    wrong: Look at the operations needed: rounded
def q(gflops, gb_s, element_bytes, TA, TB):
    return round(gflops / gb_s * element_bytes, 1), 2 * TA * TB / (TA + TB)
