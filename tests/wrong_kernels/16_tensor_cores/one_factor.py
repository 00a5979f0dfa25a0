# one_factor.py -- counts the rounding of one factor
#
# Part             bound
# Must fail for    wrong: Two factors are rounded
def bound(bits, K):
    return 2.0 ** -bits + (K - 1) * 2.0 ** -24
