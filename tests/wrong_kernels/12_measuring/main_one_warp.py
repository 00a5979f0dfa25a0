# main_one_warp.py -- takes the chain of one warp for the throughput, which is 1 / latency
#
# Part             main
# Must fail for    wrong: That is what the fewest warps reach
def throughput_and_knee(steps, warps, cycles):
    rate = 32 * warps[0] * steps / cycles[0]
    return rate, cycles[0] / steps * rate / 32
