# main_cold_first.py -- believes the first reading, which is cold in some sweeps
#
# Part             main
# Must fail for    wrong: The first reading of this sweep was cold
def throughput_and_knee(steps, warps, cycles):
    rate = 32 * warps[-1] * steps / cycles[-1]
    return rate, cycles[0] / steps * rate / 32
