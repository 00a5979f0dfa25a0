# predict_intervals.py -- another right solution: from the first sector of each vector to its last
#
# Part             predict
def sectors(N, chunk, k):
    total, seen = 0, -1
    for first in range(k, k + N * (32 // chunk), N):
        begin, end = max(first // 8, seen + 1), (first + chunk - 1) // 8
        total += max(0, end - begin + 1)
        seen = max(seen, end)
    return total
