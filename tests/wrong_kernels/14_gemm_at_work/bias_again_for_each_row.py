# bias_again_for_each_row.py -- the fused kernel forgets what it has loaded
#
# Part             passes
# Must fail for    wrong: keeps it for its `rows` elements
def passes(M, N, rows):
    row = -(-N // 8)
    return 6 * M * row, 2 * M * row
