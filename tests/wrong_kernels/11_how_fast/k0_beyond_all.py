# k0_beyond_all.py -- a share of more than all
#
# Part             k0
# Must fail for    wrong: the share ends at 1
def k0(M, N, miss, rate, threads):
    cycles = miss + M * N + M
    P = rate * cycles / (4 * (M + N))
    return cycles, P, threads / P
