# predict_counted.py -- line by line of a block, without a closed form
#
# Part             predict
from fractions import Fraction


def lines_per_multiply_add(BI, BJ, K):
    lines = sum(Fraction(BJ, 16) for _ in range(K))       # rows of B
    lines += sum(Fraction(K, 16) for _ in range(BI))      # rows of A
    lines += sum(Fraction(BJ, 16) for _ in range(BI))     # rows of C
    return float(lines / (BI * BJ * K))
