# output_own_vector.py -- counts the vector for each of the threads that share it
#
# Part             output
# Must fail for    wrong: M neighbours load the same vector
def one_output(M, N, miss, arithmetic, rate):
    cycles = miss + N * arithmetic + 1
    return cycles, rate * cycles / (4 * (N + 1)), cycles / (N / 128 + (N + 1) / 64)
