# plan_bytes_are_floats.py -- counts floats instead of bytes
#
# Part             plan
# Must fail for    wrong: Bytes: That is floats
def plan(BM, BN, BK):
    words = 32 * (BM + BN) / (BM * BN)
    return words / 128, words / 8, words / 32, BK * (BM + BN)
