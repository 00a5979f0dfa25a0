# plan_wavefront_of_128.py -- takes a store of 128 bits a lane for one wavefront
#
# Part             plan
# Must fail for    wrong: Wavefronts: A store of 128 bits a lane takes 4
def plan(BM, BN, BK):
    words = 32 * (BM + BN) / (BM * BN)
    return words / 128, words / 8, words / 128, 4 * BK * (BM + BN)
