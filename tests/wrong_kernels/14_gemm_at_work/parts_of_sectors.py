# parts_of_sectors.py -- divides and does not round up
#
# Part             passes
# Must fail for    wrong: A sector is moved whole
def passes(M, N, rows):
    return 6 * M * N / 8, M * N / 8 + M * N / 8 / rows
