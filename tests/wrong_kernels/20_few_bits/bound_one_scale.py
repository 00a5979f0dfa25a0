# bound_one_scale.py -- takes the largest scale for all blocks
#
# Part             bound
# Must fail for    wrong: Each block has a scale of its own
def bound(blocks):
    x, y = max(b[0] for b in blocks) / 254, max(b[2] for b in blocks) / 254
    return sum(sa * y + sb * x + 32 * x * y for _, sa, _, sb in blocks)
