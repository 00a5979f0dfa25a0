# block_by_block.py -- another right solution: looks at each block
#
# Part             edges
from math import ceil


def edges(M, N, K, BM, BN, BK):
    fast = 0
    for i in range(ceil(M / BM)):
        for j in range(ceil(N / BN)):
            fast += (i + 1) * BM <= M and (j + 1) * BN <= N and K % BK == 0
    used = 1.0
    for size, tile in ((M, BM), (N, BN), (K, BK)):
        used *= size / (ceil(size / tile) * tile)
    return int(fast), 1 - used if used < 1 else 0.0
