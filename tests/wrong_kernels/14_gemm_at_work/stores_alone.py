# stores_alone.py -- counts no loads
#
# Part             passes
# Must fail for    wrong: Those are the stores alone
def passes(M, N, rows):
    row = -(-N // 8)
    return 3 * M * row, M * row
