# bound_without_both.py -- leaves out what both errors make together
#
# Part             bound
# Must fail for    wrong: Both factors are off at once
def bound(blocks):
    return sum(sa * b / 254 + sb * a / 254 for a, sa, b, sb in blocks)
