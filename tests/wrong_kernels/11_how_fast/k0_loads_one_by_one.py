# k0_loads_one_by_one.py -- waits for each load before the next
#
# Part             k0
# Must fail for    wrong: Each load waits for the one before it
def k0(M, N, miss, rate, threads):
    cycles = N * miss + M * N + M
    P = rate * cycles / (4 * (M + N))
    return cycles, P, min(1, threads / P)
