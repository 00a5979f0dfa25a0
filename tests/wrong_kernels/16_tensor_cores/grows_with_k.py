# grows_with_k.py -- adds up the errors of the factors without adding up the terms
#
# Part             bound
# Must fail for    wrong: Every term is off by the same share of itself
def bound(bits, K):
    return K * 2 * 2.0 ** -bits + (K - 1) * 2.0 ** -24
