# order_one_miss.py -- one miss for the whole vector
#
# Part             order
# Must fail for    wrong: each sector of 8 elements has a miss of its own
def in_order(M, N, miss, hit, rate):
    cycles = miss + (N - 1) * hit + M * N + M
    return cycles, rate * cycles / (4 * (M + N)), cycles / (M * N / 128 + (M + N) / 64)
