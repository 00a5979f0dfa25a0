# k0_stores_of_two.py -- a store takes two cycles
#
# Part             k0
# Must fail for    wrong: That takes two cycles for a store
def k0(M, N, miss, rate, threads):
    cycles = miss + M * N + 2 * M
    P = rate * cycles / (4 * (M + N))
    return cycles, P, min(1, threads / P)
