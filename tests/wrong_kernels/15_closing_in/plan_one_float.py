# plan_one_float.py -- counts requests with one float a lane
#
# Part             plan
# Must fail for    wrong: Requests: That is with one float a lane
def plan(BM, BN, BK):
    words = 32 * (BM + BN) / (BM * BN)
    return words / 32, words / 8, words / 32, 4 * BK * (BM + BN)
