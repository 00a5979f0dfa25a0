# unit_rounds_down.py -- forgets the partly filled tiles and steps
#
# Part             unit
# Must fail for    wrong: belongs to product
def unit_of(products, unit):
    for number, (M, N, K) in enumerate(products):
        tiles, steps = max(M // 16, 1) * max(N // 16, 1), max(K // 16, 1)
        if unit < tiles * steps:
            return number, unit // steps, unit % steps
        unit -= tiles * steps
    return number, 0, 0
