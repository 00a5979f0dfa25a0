"""Lesson 15's picture: the lanes of a warp on its tile of C, and the words that their four loads for one k bring, wavefront by wavefront.

All of it is taken from traces of the lesson's kernel, in which nothing but the place of the lanes is changed. How many wavefronts a load
needs, the hardware was asked (`course_lib.model.banks`); in which order it takes them, nobody has documented.
"""

import functools
from collections import defaultdict
from typing import Any

import numpy as np

from course_lib.arch import BANKS, WARP
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.banks import services
from course_lib.run import RunResult, run
from course_lib.run.traces import array_of, elements, requests

PLACEMENTS = {"wide": "One piece of 8 × 8", "plain": "Four pieces, lanes in rows", "fed": "Four pieces, lanes in squares"}
BLOCK, DEPTH = 128, 8                       # the tile of C of one block, and how deep the tiles of A and B are
LOADS = (("As", "a4[0]"), ("As", "a4[1]"), ("Bs", "b4[0]"), ("Bs", "b4[1]"))
SIDES = {"As": "row", "Bs": "column"}       # what a word of the array belongs to in the tile of C
WORD, VECTOR = 4, 16                        # bytes of a float, and of four


def traced(name: str) -> RunResult:
    """Run one block of a recorded kernel on one tile along K, its first warp traced."""
    ones = np.ones((BLOCK, DEPTH), np.float32)
    from course_lib.bench.closing import steps  # not before a picture is asked for: it loads what measures on GPUs
    return run(steps()[name], ones, np.ascontiguousarray(ones.T), backend="sim", trace=[((0, 0, 0), 0)])


def pieces(result: RunResult) -> list[list[list[int]]]:
    """Return for each lane the rectangles of C that it stores: [row, column, rows, columns]."""
    C = array_of(result, "C")
    owned: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for request in requests(result, array="C", load=False, warp=0):
        for lane, element in elements(request, C.address, C.itemsize):
            owned[int(lane)].add(divmod(int(element), result.ldc))
    return [[[top, left, high, wide] for top, high in runs({row for row, _ in owned[lane]})
             for left, wide in runs({column for _, column in owned[lane]})] for lane in range(WARP)]


def runs(numbers: set[int]) -> list[tuple[int, int]]:
    """Return (first, how many) of each run of neighbours.

    >>> runs({0, 1, 2, 8, 9})
    [(0, 3), (8, 2)]
    """
    first = sorted(n for n in numbers if n - 1 not in numbers)
    return [(n, next(many for many in range(1, len(numbers) + 1) if n + many not in numbers)) for n in first]


def loads(result: RunResult) -> list[dict[str, Any]]:
    """Return the four loads of the warp for k = 0, each with its wavefronts: their lanes, and the rows or columns of their words."""
    found = []
    for number, (array, name) in enumerate(LOADS):
        request = requests(result, array=array, load=True, space="shared", warp=0)[number % 2]
        base = min(int(r.addresses.min()) for r in requests(result, array=array, load=True, space="shared", warp=0))
        waves: dict[int, dict[str, set[int]]] = defaultdict(lambda: {"lanes": set(), "words": set()})
        for service in services(request.addresses, width=VECTOR):
            waves[service.wavefront]["lanes"] |= set(service.lanes)
            waves[service.wavefront]["words"].add(service.word - base // WORD)
        found.append({"name": name, "array": array, "side": SIDES[array], "bank": base // WORD % BANKS,
                      "waves": [{key: sorted(many) for key, many in waves[wave].items()} for wave in sorted(waves)]})
    return found


@functools.cache
def states() -> dict[str, Any]:
    """Return each placement as JSON takes it."""
    at = {}
    for name in PLACEMENTS:
        result = traced(name)
        mine = pieces(result)
        every = [piece for lane in mine for piece in lane]
        at[name] = {"pieces": mine, "rows": max(top + high for top, _, high, _ in every), "columns": max(c + w for _, c, _, w in every),
                    "loads": loads(result)}
    return {"placements": [[name, words] for name, words in PLACEMENTS.items()], "at": at}


class Lanes(Explorable):
    """Lanes, words and wavefronts; made by `lanes`."""

    name = "lanes"
    title = "Which lane reads which words"
    _esm = module_text("lanes")

    def static_text(self) -> str:
        return (f"{self.title}: the 32 lanes of a warp on its tile of C, and the words of As and Bs that their four loads of 128 bits "
                "bring for one k, wavefront by wavefront, for three placements of the lanes. Run this cell to play it.")


def lanes(placement: str = "wide") -> Lanes:
    """Play the four loads of a warp for one k, wavefront by wavefront.

    Parameters
    ----------
    placement
        Of the lanes at first; one of `PLACEMENTS`.
    """
    return Lanes(states=states(), values={"placement": placement})
