# passes_different.py -- counts warp by warp
#
# Part             passes
def passes(M, N, rows):
    def sectors(count):                        # of a row of that many floats, a warp of 32 after another
        return sum(len({col // 8 for col in range(first, min(first + 32, count))}) for first in range(0, count, 32))

    matrix = sectors(N) * M
    separate = sum([matrix, 2 * matrix + matrix, 2 * matrix])
    return separate, matrix + sectors(N) * (M // rows)
