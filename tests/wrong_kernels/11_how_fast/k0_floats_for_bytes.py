# k0_floats_for_bytes.py -- d counts floats
#
# Part             k0
# Must fail for    wrong: so many floats are 4 · (M + N) bytes
def k0(M, N, miss, rate, threads):
    cycles = miss + M * N + M
    P = rate * cycles / (M + N)
    return cycles, P, min(1, threads / P)
