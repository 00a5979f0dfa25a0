# order_all_miss.py -- every load misses
#
# Part             order
# Must fail for    wrong: of the 8 elements of a sector one does
def in_order(M, N, miss, hit, rate):
    cycles = N * miss + M * N + M
    return cycles, rate * cycles / (4 * (M + N)), cycles / (M * N / 128 + (M + N) / 64)
