# order_loaded_first.py -- analyses K0
#
# Part             order
# Must fail for    wrong: That is K0's: here an element is loaded, waited for and used
def in_order(M, N, miss, hit, rate):
    cycles = miss + M * N + M
    return cycles, rate * cycles / (4 * (M + N)), cycles / (M * N / 128 + (M + N) / 64)
