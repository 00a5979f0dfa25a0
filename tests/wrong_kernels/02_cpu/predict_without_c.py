# predict_without_c.py -- forgets the lines of C
#
# Part             predict
# Must fail for    wrong: The lines of C are missing
def lines_per_multiply_add(BI, BJ, K):
    return (1 / BI + 1 / BJ) / 16
