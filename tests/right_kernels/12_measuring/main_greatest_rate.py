# main_greatest_rate.py -- another right solution: the best that any number of warps reaches
#
# Part             main
def throughput_and_knee(steps, warps, cycles):
    per_warp = min(c / w for w, c in zip(warps, cycles))
    return [32 * steps / per_warp, min(cycles) / per_warp]
