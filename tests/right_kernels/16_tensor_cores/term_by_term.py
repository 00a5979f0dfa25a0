# term_by_term.py -- another right solution: follows one term through every rounding, with nothing left out
#
# Part             bound
def bound(bits, K):
    factor = 1.0 + 2.0 ** -bits
    grown = factor * factor
    for _ in range(1, K):
        grown += grown * 2.0 ** -24
    return grown - 1.0
