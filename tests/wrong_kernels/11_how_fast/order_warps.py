# order_warps.py -- Q in warps
#
# Part             order
# Must fail for    wrong: That is warps; Q counts threads
def in_order(M, N, miss, hit, rate):
    cycles = N / 8 * miss + 7 * N / 8 * hit + M * N + M
    return cycles, rate * cycles / (4 * (M + N)), cycles / (M * N / 128 + (M + N) / 64) / 32
