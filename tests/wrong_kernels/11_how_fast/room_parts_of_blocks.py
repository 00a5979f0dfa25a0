# room_parts_of_blocks.py -- the warps that the registers hold, whole blocks or not
#
# Part             room
# Must fail for    wrong: Blocks fit whole or not at all
def room(threads, registers, shared, latency, rate, width):
    warps = threads // 32
    of_a_warp = -(-32 * registers // 256) * 256
    of_a_block = -(-(shared + 1024) // 128) * 128
    registers_hold = 65536 // of_a_warp
    blocks = min(64 // warps, 228 * 1024 // of_a_block)
    return min(blocks * warps, registers_hold), -(-latency * rate // (32 * width))
