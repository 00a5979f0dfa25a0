"""The controls of the lessons on the CPU, and the pure functions behind them."""

import functools

from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import bars, cache_lines, describe_lines, line_window, style
from course_lib.run import count_lines
from course_lib.toolchain import no_compiler
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Control, Explore

CACHES = tuple((f"{kib} KiB", kib * 1024) for kib in (1, 2, 4, 8, 16, 32))
SMALL_N, SMALL_CACHE, LAST = 32, 2048, 16       # of the picture of single lines: 32 lines, a row is two of them
STEPS = tuple(range(8, 513, 8))


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


def line_facts(counted):
    """Return what the table shows of counted lines, as a mapping of label to text."""
    shown = {f"lines fetched, {name}": f"{counted.fetched[name]:,}" for name in "ABC"}
    shown["lines fetched, all"] = f"{counted.total:,}"
    shown |= {f"uses of a fetched line, {name}": f"{counted.accesses[name] / counted.fetched[name]:,.0f}" for name in "ABC"}
    return shown | {"multiply-adds": f"{counted.M * counted.N * counted.K:,}",
                    "lines / multiply-add": f"{counted.per_multiply_add:.4f}"}


def line_bars(counted):
    """Draw the lines per multiply-add of A, B and C; return (Axes, alternative text)."""
    mnk = counted.M * counted.N * counted.K
    values = {name: counted.fetched[name] / mnk for name in "ABC"} | {"all": counted.per_multiply_add}
    what = ", ".join(f"{k} = {v}" for k, v in counted.parameters.items())
    name = counted.kernel.name + (f", {what}" if what else "")
    ax = bars(values, style.axes(width=6.2, height=3.6), title=f"{name}, N = {counted.N}",
              unit="cache lines per multiply-add, counted", note=f"in a model of a cache of {counted.cache.size // 1024} KiB")
    ax.set_xlim(0, 2.4)
    said = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
    return ax, f"Cache lines per multiply-add of {name} at N = {counted.N} with a cache of {counted.cache}: {said}."


def order_sliders(order="ijk", N=128, size=4096, *, sizes=(32, 64, 96, 128, 192, 256)):
    """Put controls on the loop order, N and the cache.

    Returns
    -------
    Explore
    """
    controls = (Control("order", "of the loops, from the outermost to the innermost", ORDERS, order),
                Control("N", "rows and columns of A, B and C", tuple(sizes), N),
                Control("cache", "bytes of the cache, in lines of 64 bytes", CACHES, size))
    return Explore(controls, count_order, facts=line_facts, picture=line_bars, doing="counting",
                   done="counted in a model of a cache")


@functools.lru_cache(maxsize=6)
def trace_order(order, N=SMALL_N, size=SMALL_CACHE):
    """Count as `count_order` does, and keep the accesses that the picture of single lines needs."""
    A, B, _ = inputs(N, N, N)
    return count_lines(f"gemm_{order}", A, B, cache=CacheShape(size), trace=3 * STEPS[-1])


def order_window(order, step):
    """Return the `Window` of the picture of single lines after `step` multiply-adds; it looks at the last 16.

    >>> [order_window(order, 48).misses["B"] for order in ("ijk", "ikj")]
    [16, 1]
    """
    return line_window(trace_order(order), step, LAST)


def line_picture(order, step):
    """Draw the lines of A, B and C after `step` multiply-adds of a loop order; return (Figure, alternative text)."""
    window = order_window(order, step)
    title = f"{order}: after {step} multiply-adds; a cache of {SMALL_CACHE // 1024} KiB"
    return cache_lines(window, title=title), f"Order {order}. {describe_lines(window)}"


def line_player(order="ijk", step=STEPS[3]):
    """Put controls on the picture of single lines: the order, and how far the program has come.

    Returns
    -------
    Explore
    """
    controls = (Control("order", "of the loops, from the outermost to the innermost", ORDERS, order),
                Control("step", "multiply-adds until now", STEPS, step))
    return Explore(controls, lambda *position: position, picture=lambda position: line_picture(*position), doing="drawing",
                   done="drawn from the program's accesses")


def compiler_note():
    """Say whether the C programs of a lesson can run here; return whether they can.

    Without a C compiler a lesson still completes: Python counts cache lines in its place, and what must be compiled is left out.
    """
    missing = no_compiler()
    if missing:
        print("Cells that time C programs or compile your own C are skipped, and Python counts the cache lines (slower, the same "
              f"counts): {missing}.")
    else:
        print("A C compiler works here: every cell runs.")
    return not missing


@functools.lru_cache(maxsize=64)
def count_blocks(block, N, size):
    """Count the cache lines of `gemm_blocked` with blocks of `block` × `block`; the rest as for `count_order`.

    >>> round(count_blocks(16, 32, 4096).per_multiply_add, 4) == round(blocked_lines(16, 32), 4)
    True
    """
    A, B, _ = inputs(N, N, N)
    return count_lines("gemm_blocked", A, B, cache=CacheShape(size), BI=block, BJ=block, BK=block)


def blocked_lines(block, N, per_line=16):
    """Return lines per multiply-add when the blocks fit: 2 b² / 16 lines of A and B for b³ multiply-adds, and C once.

    >>> blocked_lines(16, 128) == 1 / 128 + 1 / 2048
    True
    """
    return 2 / (per_line * block) + 1 / (per_line * N)


def block_facts(counted):
    """Return what the table shows of a blocked loop: the counted lines, the formula, and what would have to fit."""
    block = counted.parameters["BI"]
    shown = line_facts(counted)
    for name in "ABC":
        del shown[f"uses of a fetched line, {name}"]
    return shown | {"1/(8b) + 1/(16N)": f"{blocked_lines(block, counted.N):.4f}",
                    "bytes of three blocks": f"{12 * block * block:,}", "bytes of the cache": f"{counted.cache.size:,}"}


def block_bars(counted):
    """Draw the lines of a blocked loop beside those of ikj and the formula; return (Axes, alternative text)."""
    block, N = counted.parameters["BI"], counted.N
    values = {"ikj, no blocks": count_order("ikj", N, counted.cache.size).per_multiply_add,
              f"blocks of {block} × {block}": counted.per_multiply_add, "1/(8b) + 1/(16N)": blocked_lines(block, N)}
    ax = bars(values, style.axes(width=6.6, height=3.2), title=f"gemm_blocked, N = {N}",
              unit="cache lines per multiply-add, counted", note=f"in a model of a cache of {counted.cache.size // 1024} KiB")
    ax.set_xlim(0, 0.12)
    said = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
    return ax, f"Cache lines per multiply-add at N = {N} with a cache of {counted.cache.size // 1024} KiB: {said}."


def block_sliders(block=16, N=128, size=4096, *, blocks=(4, 8, 16, 24, 32, 48, 64, 128), sizes=(64, 96, 128, 192)):
    """Put controls on the block, N and the cache.

    Returns
    -------
    Explore
    """
    controls = (Control("b", "rows and columns of a block", tuple(blocks), block),
                Control("N", "rows and columns of A, B and C", tuple(sizes), N),
                Control("cache", "bytes of the cache, in lines of 64 bytes", CACHES, size))
    return Explore(controls, count_blocks, facts=block_facts, picture=block_bars, doing="counting",
                   done="counted in a model of a cache")
