# unit_exchanged.py -- takes the tiles of a k-step one after another
#
# Part             unit
# Must fail for    wrong: all k-steps of tile 0
def unit_of(products, unit):
    for number, (M, N, K) in enumerate(products):
        tiles, steps = -(-M // 16) * -(-N // 16), -(-K // 16)
        if unit < tiles * steps:
            return number, unit % tiles, unit // tiles
        unit -= tiles * steps
