# b_forgotten.py -- forgets that B is loaded, too
#
# Part             costs
# Must fail for    wrong: the tile of B is loaded too
def costs(threads, vectors, columns):
    return vectors * columns, 1 / vectors, 1 / columns
