# b_operations.py -- counts loads as variant a counts operations
#
# Part             main-b
# Must fail for    wrong: each brings 4 bytes
def bytes_and_knee(steps, threads, cycles):
    rate = threads[-1] * steps / cycles[-1]
    return rate, min(cycles) / steps * rate
