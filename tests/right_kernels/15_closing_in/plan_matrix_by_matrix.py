# plan_matrix_by_matrix.py -- another right solution: what each matrix costs, counted for a whole tile
#
# Part             plan
def plan(BM, BN, BK):
    of_warp = BM * BN * BK / 32
    words = [BM * BK, BK * BN]
    return [sum(n / size for n in words) / of_warp for size in (128, 8, 32)] + [4 * sum(words)]
