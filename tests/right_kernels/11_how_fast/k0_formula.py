# k0_formula.py -- Koppelman's formula, which counts where the loads take longer than the latency, too
#
# Part             k0
def k0(M, N, miss, rate, threads):
    cycles = miss + M * N + M
    d = 4 * (M + N)
    P = rate * cycles / d
    return cycles, P, min(1, threads * d / cycles / rate)
