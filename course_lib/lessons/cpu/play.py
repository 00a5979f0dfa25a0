"""The controls of lesson 02: the size of a block and of the cache, counted on the course's own loops in blocks."""

from matplotlib.axes import Axes

from course_lib.lessons.cpu.loops import CACHE, FLOAT, Lines, N, count_blocks, count_order, lines_per_multiply_add
from course_lib.plots import bars, style
from course_lib.widgets.explore import Control, Explore

CACHES = tuple((f"{kib} KiB", kib * 1024) for kib in (1, 2, 3, 4, 8, 12, 16, 32, 64))
BLOCKS = (16, 32, 64)


def counted(block: int, cache: int) -> tuple[int, Lines]:
    """Count the lines of a position of the controls; return the block and the `Lines`."""
    return block, count_blocks(block, N, cache)


def facts(position: tuple[int, Lines]) -> dict[str, str]:
    """Return what the table shows of a position, as a mapping of label to text."""
    block, lines = position
    return {"lines of A": f"{lines.fetched['A']:,}", "lines of B": f"{lines.fetched['B']:,}", "lines of C": f"{lines.fetched['C']:,}",
            "lines per multiply-add": f"{lines.per_multiply_add:.4f}",
            "one block, bytes": f"{FLOAT * block * block:,}", "cache, bytes": f"{lines.cache.size:,}"}


def picture(position: tuple[int, Lines]) -> tuple[Axes, str]:
    """Draw the lines per multiply-add of a position beside those without blocks; return (Axes, alternative text)."""
    block, lines = position
    kib = lines.cache.size // 1024
    values = {"without blocks": count_order("ikj", N, lines.cache.size).per_multiply_add, f"{block} × {block}": lines.per_multiply_add,
              "by the formula": float(lines_per_multiply_add(block, N))}
    ax = bars(values, style.axes(width=6.6, height=2.6), title=f"N = {N}, a cache of {kib} KiB", unit="cache lines per multiply-add")
    ax.set_xlim(0, 0.14)
    said = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
    return ax, f"Cache lines per multiply-add with a cache of {kib} KiB: {said}."


def block_sliders(block: int = 16, cache: int = CACHE) -> Explore:
    """Put controls on the block and on the cache."""
    controls = (Control("b", "rows and columns of a block", BLOCKS, block),
                Control("cache", "bytes of the cache, in lines of 64 bytes", CACHES, cache))
    return Explore(controls, counted, facts=facts, picture=picture, doing="counting", done="counted in a model of a cache")
