# main_a_warp_is_one.py -- a warp's instruction is counted as one operation
#
# Part             main
# Must fail for    wrong: it is an operation for each of its 32 lanes
def throughput_and_knee(steps, warps, cycles):
    rate = warps[-1] * steps / cycles[-1]
    return rate, min(cycles) / steps * rate
