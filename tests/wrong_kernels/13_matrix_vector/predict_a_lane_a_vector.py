# predict_a_lane_a_vector.py -- takes a lane for each vector, whatever chunk is
#
# Part             predict
# Must fail for    wrong: Here 2 neighbouring lanes read one vector
def sectors(N, chunk, k):
    return len({(N * lane + k) // 8 for lane in range(32)})
