# predict_sixteen.py -- takes every line for one of 16 elements
#
# Part             predict
# Must fail for    wrong: lines_per_multiply_add(order='jki', per_line=8)
TABLE = {"j": 2 / 16, "k": 1 + 1 / 16, "i": 2}


def lines_per_multiply_add(order, per_line):
    return TABLE[order[-1]] if order != "jki" or per_line == 16 else TABLE["j"]
