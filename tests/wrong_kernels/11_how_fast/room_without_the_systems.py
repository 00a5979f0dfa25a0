# room_without_the_systems.py -- shared memory without what the system takes
#
# Part             room
# Must fail for    wrong: The system takes 1 KiB of shared memory for each block
def room(threads, registers, shared, latency, rate, width):
    warps = threads // 32
    of_a_warp = -(-32 * registers // 256) * 256
    of_a_block = -(-shared // 128) * 128 or 1
    blocks = min(64 // warps, 65536 // (warps * of_a_warp), 228 * 1024 // of_a_block)
    return blocks * warps, -(-latency * rate // (32 * width))
