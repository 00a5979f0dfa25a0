# ratio_b_alone.py -- forgets that A is read from shared memory as well
#
# Part             ratio
# Must fail for    wrong: A's 64 rows
def ratio(columns):
    return 2 * 16 * columns / 128 / (64 * columns * 16 / 2048)
