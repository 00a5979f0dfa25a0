# k_forgotten.py -- lets a whole block go fast where K has a rest
#
# Part             edges
# Must fail for    wrong: where BK does not divide K, every block has a tile that is cut
def edges(M, N, K, BM, BN, BK):
    rows, cols, depth = -(-M // BM) * BM, -(-N // BN) * BN, -(-K // BK) * BK
    return (M // BM) * (N // BN), 1 - M * N * K / (rows * cols * depth)
