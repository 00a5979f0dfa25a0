# plan_of_a_thread.py -- divides by the multiply-adds of threads
#
# Part             plan
# Must fail for    wrong: a warp executes 32 at once
def plan(BM, BN, BK):
    words = (BM + BN) / (BM * BN)
    return words / 128, words / 8, words / 32, 4 * BK * (BM + BN)
