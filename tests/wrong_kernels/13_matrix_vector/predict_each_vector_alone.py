# predict_each_vector_alone.py -- counts a sector that two vectors share twice
#
# Part             predict
# Must fail for    wrong: is counted once, not for each of them
def sectors(N, chunk, k):
    total = 0
    for vector in range(32 // chunk):
        first = N * vector + k
        total += (first + chunk - 1) // 8 - first // 8 + 1
    return total
