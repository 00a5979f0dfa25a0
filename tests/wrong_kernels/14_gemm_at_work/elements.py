# elements.py -- counts floats
#
# Part             passes
# Must fail for    wrong: a sector has 8
def passes(M, N, rows):
    return 6 * M * N, M * N + M * N // rows
