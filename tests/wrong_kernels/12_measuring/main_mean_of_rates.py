# main_mean_of_rates.py -- a mean over the whole sweep, flat part included
#
# Part             main
# Must fail for    wrong: That is a mean over the whole sweep
def throughput_and_knee(steps, warps, cycles):
    rate = sum(32 * w * steps / c for w, c in zip(warps, cycles)) / len(warps)
    return rate, min(cycles) / steps * rate / 32
