# predict_without_k.py -- forgets where in its sector the first lane begins
#
# Part             predict
# Must fail for    wrong: That is right for k = 0
def sectors(N, chunk, k):
    return len({(N * (lane // chunk) + lane % chunk) // 8 for lane in range(32)})
