# more_than_needed.py -- divides by what is needed
#
# Part             edges
# Must fail for    wrong: divide by the multiply-adds that are executed
def edges(M, N, K, BM, BN, BK):
    rows, cols, depth = -(-M // BM) * BM, -(-N // BN) * BN, -(-K // BK) * BK
    return (M // BM) * (N // BN) if K % BK == 0 else 0, rows * cols * depth / (M * N * K) - 1
