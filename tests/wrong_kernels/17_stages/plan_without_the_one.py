# plan_without_the_one.py -- counts only what is on its way
#
# Part             plan
# Must fail for    wrong: one more is being multiplied
def plan(BM, BN, BK, latency):
    product = BM * BN * BK / 128
    return -(-latency // product), 8 * BK * (BM + BN) / product * latency
