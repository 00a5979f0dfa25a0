# main_throughput_alone.py -- the knee is missing
#
# Part             main
# Must fail for    wrong: must return a tuple of two numbers
def throughput_and_knee(steps, warps, cycles):
    return 32 * warps[-1] * steps / cycles[-1]
