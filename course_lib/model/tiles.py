"""The arithmetic of tiles: outputs of a thread, bytes of shared memory, blocks of a grid, work beyond the edge."""

from course_lib.model.inputs import InputError, whole


def _all_whole(**values):
    for name, value in values.items():
        whole(name, value, 1, 1 << 20, "a size is")


def outputs_per_thread(TA: int, TB: int, bx: int, by: int) -> int:
    """Return the elements of C that each of bx x by threads computes of a TA x TB tile.

    Raises
    ------
    InputError, a ValueError
        When the threads do not divide the tile.

    Source: Wang and Jin, Q1.a and Q1.b.

    >>> outputs_per_thread(64, 64, 16, 16), outputs_per_thread(32, 32, 32, 8)
    (16, 4)
    """
    _all_whole(TA=TA, TB=TB, bx=bx, by=by)
    if TA * TB % (bx * by):
        raise InputError(f"{bx} x {by} threads cannot share {TA} x {TB} elements evenly")
    return TA * TB // (bx * by)


def tile_bytes(TA: int, TB: int, TW: int, element_bytes: int = 8) -> int:
    """Return the bytes of shared memory for a TA x TW tile of A and a TW x TB tile of B.

    >>> tile_bytes(64, 64, 16), tile_bytes(16, 16, 16, 4)
    (16384, 2048)
    """
    return (TA + TB) * TW * element_bytes


def blocks(N: int, tile: int) -> int:
    """Return the thread blocks that an N x N result needs with square tiles.

    >>> blocks(1024, 64), blocks(1025, 64), blocks(1024, 16)
    (256, 289, 4096)
    """
    _all_whole(N=N, tile=tile)
    return (-(-N // tile)) ** 2


def waste(N: int, tile: int) -> float:
    """Return the work that tiles do beyond the edge of an N x N result, over the work that is needed.

    Wang and Jin's dip at 64 k + 1: a whole row and column of blocks for one row and one column of C.

    >>> waste(1024, 64), round(waste(1025, 64), 3), round(waste(257, 64), 3)
    (0.0, 0.127, 0.55)
    """
    return blocks(N, tile) * tile * tile / (N * N) - 1


def iterations(K: int, tile: int) -> int:
    """Return how many tiles the sum over K takes.

    Source: Lee's slides, a 32 x 32 product with 16 x 16 tiles; Wong, section D.

    >>> iterations(32, 16)
    2
    """
    _all_whole(K=K, tile=tile)
    return -(-K // tile)
