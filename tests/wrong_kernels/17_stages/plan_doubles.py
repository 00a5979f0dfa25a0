# plan_doubles.py -- counts doubles
#
# Part             plan
# Must fail for    wrong: each has 8 bytes
def plan(BM, BN, BK, latency):
    product = BM * BN * BK / 128
    return -(-latency // product) + 1, BK * (BM + BN) / product * latency
