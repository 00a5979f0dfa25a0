# count_different.py -- another right solution: by the greatest common divisor
#
# Part             count
from math import ceil, gcd


def wavefronts(row_length, lanes):
    if row_length == 0:
        return 1
    return ceil(lanes * gcd(row_length, 32) / 32)
