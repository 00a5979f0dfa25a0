# output_shared_loads.py -- takes a share of the vector for the loads that are issued
#
# Part             output
# Must fail for    wrong: A thread issues all N of its loads
def one_output(M, N, miss, arithmetic, rate):
    cycles = miss + N * arithmetic + 1
    return cycles, rate * cycles / (4 * (M + N) / M), cycles / (N / 128 + (N / M + 1) / 64)
