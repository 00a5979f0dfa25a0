# predict_lanes_exchanged.py -- exchanges vector and component
#
# Part             predict
# Must fail for    wrong: Lane l reads vector l // chunk
def sectors(N, chunk, k):
    return len({(N * (lane % chunk) + k + lane // chunk) // 8 for lane in range(32)})
