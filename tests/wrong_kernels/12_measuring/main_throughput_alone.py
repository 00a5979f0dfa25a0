# main_throughput_alone.py -- the knee is missing
#
# Part             main
# Must fail for    wrong: must return 2 numbers
def throughput_and_knee(steps, warps, cycles):
    return 32 * warps[-1] * steps / cycles[-1]
