# plan_whole_steps.py -- takes whole steps for the bytes
#
# Part             plan
# Must fail for    wrong: whole steps
def plan(BM, BN, BK, latency):
    ahead = -(-latency // (BM * BN * BK / 128))
    return ahead + 1, ahead * 8 * BK * (BM + BN)
