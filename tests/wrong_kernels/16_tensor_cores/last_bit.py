# last_bit.py -- takes the last bit for the error
#
# Part             bound
# Must fail for    wrong: at most half of the last bit
def bound(bits, K):
    return 2 * 2.0 ** (1 - bits) + (K - 1) * 2.0 ** -24
