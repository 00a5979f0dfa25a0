# bias_costs_nothing.py -- counts C alone
#
# Part             passes
# Must fail for    wrong: The bias is missing
def passes(M, N, rows):
    row = -(-N // 8)
    return 5 * M * row, M * row
