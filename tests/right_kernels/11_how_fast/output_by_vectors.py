# output_by_vectors.py -- counts the M threads of a vector together
#
# Part             output
from fractions import Fraction


def one_output(M, N, miss, arithmetic, rate):
    ready = miss
    for _ in range(N):
        ready += arithmetic
    cycles = ready + 1
    vectors = Fraction(rate) * cycles / (4 * (M + N))
    return cycles, float(vectors * M), float(cycles / (Fraction(N, 128) + Fraction(N + 1, 64)))
