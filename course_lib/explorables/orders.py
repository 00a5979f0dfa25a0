"""Lesson 01's explorable: two of the six orders of the triple loop side by side, and the cache lines that each of them fetches."""

import functools
from typing import Any

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape, count_steps, loop_steps

N = 32                                # rows and columns of A, B and C, of floats
LINE_BYTES, FLOAT = 64, 4
CACHES = tuple(range(8, 129, 8))      # lines of the cache


@functools.cache
def counted(order: str, lines: int) -> list[int]:
    """Return the lines of A, B and C that an order of the loops fetches into a cache of so many lines, from beginning to end.

    >>> counted("ikj", 16)
    [64, 2048, 64]
    """
    return count_steps(loop_steps(order, N, N, N), [(N, N, N)] * 3, FLOAT, CacheShape(LINE_BYTES * lines))


@functools.cache
def states() -> dict[str, Any]:
    """Return the sizes, and the totals that the browser's own count must end with at every position of the controls, as JSON takes it."""
    return {"N": N, "per_line": LINE_BYTES // FLOAT, "orders": list(ORDERS), "caches": list(CACHES),
            "totals": {order: {lines: counted(order, lines) for lines in CACHES} for order in ORDERS}}


class Orders(Explorable):
    """Two orders of the loops and what they fetch; made by `two_orders`."""

    name = "orders"
    title = "The same three loops in two orders"
    _esm = module_text("orders")

    def static_text(self) -> str:
        return (f"{self.title}: {self.values['left']} and {self.values['right']}. Each multiplies the same two {N} × {N} matrices, and a "
                "counter beside it counts the cache lines that it has fetched. Run this cell to play it.")


def two_orders(left: str = "ijk", right: str = "ikj", lines: int = 16) -> Orders:
    """Play two orders of the triple loop side by side, with counters of the cache lines that they fetch.

    Parameters
    ----------
    left, right
        Of the six orders, from the outermost loop to the innermost.
    lines
        How many lines the cache holds, a multiple of 8 up to 128.
    """
    return Orders(states=states(), values={"left": left, "right": right, "lines": lines})
