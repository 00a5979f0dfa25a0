# predict_c_for_each_k.py -- fetches C for each k
#
# Part             predict
# Must fail for    wrong: fetched once, not for each k
def lines_per_multiply_add(BI, BJ, K):
    return (BI * K + K * BJ + BI * BJ * K) / 16 / (BI * BJ * K)
