# ratio_simplified.py -- the formula with its numbers multiplied out
#
# Part             ratio
def ratio(columns):
    return 32 / columns + 0.5
