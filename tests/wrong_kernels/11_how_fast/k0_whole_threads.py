# k0_whole_threads.py -- rounds the threads up
#
# Part             k0
# Must fail for    wrong: Look at P: rounded
from math import ceil


def k0(M, N, miss, rate, threads):
    cycles = miss + M * N + M
    P = ceil(rate * cycles / (4 * (M + N)))
    return cycles, P, min(1, threads / P)
