# plan_of_a_tile.py -- does not divide by the multiply-adds
#
# Part             plan
# Must fail for    wrong: That is for a whole tile
def plan(BM, BN, BK):
    words = BK * (BM + BN)
    return words / 128, words / 8, words / 32, 4 * words
