# main_in_threads.py -- the knee in threads
#
# Part             main
# Must fail for    wrong: That is in threads: count warps of 32
def throughput_and_knee(steps, warps, cycles):
    rate = 32 * warps[-1] * steps / cycles[-1]
    return rate, min(cycles) / steps * rate
