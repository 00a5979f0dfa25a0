# output_no_chain.py -- multiply-adds as if they did not wait for each other
#
# Part             output
# Must fail for    wrong: a chain, `arithmetic` cycles a link
def one_output(M, N, miss, arithmetic, rate):
    cycles = miss + N + 1
    return cycles, rate * cycles / (4 * (M + N) / M), cycles / (N / 128 + (N + 1) / 64)
