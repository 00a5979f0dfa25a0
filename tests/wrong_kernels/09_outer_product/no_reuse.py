# no_reuse.py -- reads a word of b for each multiply-add
#
# Part             costs
# Must fail for    wrong: a word of b, once in a register
def costs(threads, vectors, columns):
    return vectors * columns, 1, 1 / columns + 1 / (threads * vectors)
