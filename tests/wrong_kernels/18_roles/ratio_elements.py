# ratio_elements.py -- counts elements as bytes
#
# Part             ratio
# Must fail for    wrong: two bytes
def ratio(columns):
    return 16 * (64 + columns) / 128 / (64 * columns * 16 / 2048)
