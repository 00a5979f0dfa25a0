# predict_first_letter.py -- takes the first letter for the innermost loop
#
# Part             predict
# Must fail for    wrong: walks down a column as k counts up
def lines_per_multiply_add(order, per_line):
    inner = order[0]
    return sum(1 / per_line if col == inner else float(row == inner) for row, col in ("ik", "kj", "ij"))
