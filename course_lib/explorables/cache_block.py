"""Lesson 02's explorable: a product without blocks and in blocks, side by side, and the lines that a cache holds meanwhile.

The browser computes which lines are fetched; `tests/explorables/test_cache_block.py` holds that to `course_lib.run.count_lines`.
"""

from course_lib.explorables.explorable import Explorable, module_text

N = 32                                  # rows and columns of A, B and C
LINE, FLOAT = 64, 4                     # bytes of a cache line and of an element
BLOCK = 16                              # rows and columns of a block


class CacheBlock(Explorable):
    """A product without blocks and in blocks, and what each fetches; made by `cache_blocks`."""

    name = "cache_block"
    title = "A product without blocks and in blocks, and what the cache holds"
    _esm = module_text("cache_block")

    def static_text(self) -> str:
        return (f"{self.title}. Both sides multiply the same two {N} × {N} matrices, one along whole rows and one block by "
                "block, and count the cache lines that they fetch. Run this cell to play it.")


def cache_blocks(cache: int = 4096, quick: bool = False) -> CacheBlock:
    """Play a product without blocks beside the same product in blocks of 16 × 16, with a counter of the cache lines that each fetches.

    Parameters
    ----------
    cache
        Bytes of the cache, a multiple of 1024.
    quick
        Whether it plays to the end in some seconds, for whoever has seen how it works.
    """
    states = {"N": N, "perLine": LINE // FLOAT, "bytesPerLine": LINE, "block": BLOCK, "quick": quick}
    return CacheBlock(states=states, values={"cache": cache})
