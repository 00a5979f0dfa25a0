# order_sectors_moved.py -- counts a sector for each load
#
# Part             order
# Must fail for    wrong: The seven hits of a sector cross no boundary of the chip
def in_order(M, N, miss, hit, rate):
    cycles = N / 8 * miss + 7 * N / 8 * hit + M * N + M
    return cycles, rate * cycles / (32 * N + 4 * M), cycles / (M * N / 128 + (M + N) / 64)
