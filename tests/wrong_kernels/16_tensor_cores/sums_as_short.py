# sums_as_short.py -- sums in the format of the factors
#
# Part             bound
# Must fail for    wrong: The sums stay in float32
def bound(bits, K):
    return (K + 1) * 2.0 ** -bits
