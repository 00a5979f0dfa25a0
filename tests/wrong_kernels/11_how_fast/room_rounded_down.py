# room_rounded_down.py -- leaves the last part of a warp out
#
# Part             room
# Must fail for    wrong: That is rounded down
def room(threads, registers, shared, latency, rate, width):
    warps = threads // 32
    of_a_warp = -(-32 * registers // 256) * 256
    of_a_block = -(-(shared + 1024) // 128) * 128
    blocks = min(64 // warps, 65536 // (warps * of_a_warp), 228 * 1024 // of_a_block)
    return blocks * warps, latency * rate // (32 * width)
