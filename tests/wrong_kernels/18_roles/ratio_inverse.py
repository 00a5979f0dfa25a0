# ratio_inverse.py -- divides the other way round
#
# Part             ratio
# Must fail for    wrong: cycles of the tensor cores per cycle of shared memory
def ratio(columns):
    return (64 * columns * 16 / 2048) / (2 * 16 * (64 + columns) / 128)
