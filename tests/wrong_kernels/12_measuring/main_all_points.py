# main_all_points.py -- one line through all points, flat ones included
#
# Part             main
# Must fail for    wrong: That is a line through all points
def throughput_and_knee(steps, warps, cycles):
    n = len(warps)
    x, y = sum(warps) / n, sum(cycles) / n
    slope = sum((w - x) * (c - y) for w, c in zip(warps, cycles)) / sum((w - x) ** 2 for w in warps)
    rate = 32 * steps / slope
    return rate, cycles[0] / steps * rate / 32
