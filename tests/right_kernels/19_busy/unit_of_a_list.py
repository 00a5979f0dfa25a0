# unit_of_a_list.py -- writes the whole line down
#
# Part             unit
def unit_of(products, unit):
    line = []
    for number, (M, N, K) in enumerate(products):
        for tile in range(((M + 15) // 16) * ((N + 15) // 16)):
            line += [(number, tile, step) for step in range((K + 15) // 16)]
    return line[unit]
