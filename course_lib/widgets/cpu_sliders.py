"""The cache lines of a loop order, counted once."""

import functools

from course_lib.model.cache_lines import CacheShape
from course_lib.run import count_lines
from course_lib.widgets.compute import inputs


@functools.lru_cache(maxsize=64)
def count_order(order, N, size):
    """Count the cache lines of a loop order on N × N matrices.

    Parameters
    ----------
    order : str
        Of the loops, such as "ikj".
    N : int
    size : int
        Bytes of the cache; its lines have 64, the least recently used goes first.

    Returns
    -------
    LineCount

    >>> {order: round(count_order(order, 32, 1024).per_multiply_add, 4) for order in ("ikj", "jki")}
    {'ikj': 0.0664, 'jki': 2.0312}
    """
    A, B, _ = inputs(N, N, N)
    return count_lines(f"gemm_{order}", A, B, cache=CacheShape(size))
