# room_by_trying.py -- adds blocks and loads one by one
#
# Part             room
def room(threads, registers, shared, latency, rate, width):
    def taken(blocks):
        warps = blocks * threads // 32
        shared_units = (shared + 1024 + 127) // 128
        return warps <= 64 and warps * ((registers + 7) // 8) * 256 <= 65536 and blocks * shared_units * 128 <= 228 * 1024

    blocks = needed = 0
    while taken(blocks + 1):
        blocks += 1
    while needed * 32 * width < latency * rate:
        needed += 1
    return blocks * threads // 32, needed
