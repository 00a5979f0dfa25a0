# main_first_above_the_flat.py -- the first point that is clearly above the flat part is taken for the knee
#
# Part             main
# Must fail for    wrong: That is a point of the sweep
def throughput_and_knee(steps, warps, cycles):
    rate = 32 * warps[-1] * steps / cycles[-1]
    flat = min(cycles)
    last_flat = max(i for i, c in enumerate(cycles) if c < 1.1 * flat)
    return rate, warps[last_flat + 1]
