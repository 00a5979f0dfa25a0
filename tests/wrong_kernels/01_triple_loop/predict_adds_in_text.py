# predict_adds_in_text.py -- returns words
#
# Part             predict
# Must fail for    wrong: must return a number
def lines_per_multiply_add(order, per_line):
    return f"1/{per_line}"
