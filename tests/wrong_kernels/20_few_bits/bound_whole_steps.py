# bound_whole_steps.py -- lets a number be off by a whole step
#
# Part             bound
# Must fail for    wrong: half a step
def bound(blocks):
    return sum(sa * b / 127 + sb * a / 127 + 32 * a / 127 * b / 127 for a, sa, b, sb in blocks)
