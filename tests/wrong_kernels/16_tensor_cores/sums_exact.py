# sums_exact.py -- forgets that sums are rounded
#
# Part             bound
# Must fail for    wrong: Each addition rounds its sum
def bound(bits, K):
    return 2 * 2.0 ** -bits
