# b_in_warps.py -- the knee in warps, as in variant a
#
# Part             main-b
# Must fail for    wrong: That is in warps: count threads
def bytes_and_knee(steps, threads, cycles):
    rate = 4 * threads[-1] * steps / cycles[-1]
    return rate, min(cycles) / steps * rate / 4 / 32
