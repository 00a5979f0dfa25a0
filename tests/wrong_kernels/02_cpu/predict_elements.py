# predict_elements.py -- counts elements
#
# Part             predict
# Must fail for    wrong: These are elements: a line holds 16 of them
def lines_per_multiply_add(BI, BJ, K):
    return 1 / BI + 1 / BJ + 1 / K
