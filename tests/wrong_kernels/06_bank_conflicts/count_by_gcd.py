# count_by_gcd.py -- the rule for 32 lanes, whatever lanes take part
#
# Part             count
# Must fail for    wrong: gcd(row_length, 32) is right for 32 lanes
from math import gcd


def wavefronts(row_length, lanes):
    return gcd(row_length, 32)
