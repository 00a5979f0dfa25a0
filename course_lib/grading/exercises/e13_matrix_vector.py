"""Exercise 13, "Vectors side by side": predict sectors, then bring vectors through shared memory, then without bank conflicts.

The matrix is 16 × 16 and lies in constant memory, so global memory serves the vectors alone. All gates count what 32 components cost, as
many as a warp moves at once: 128 bytes, 4 sectors at least.

The starter has a thread for each vector. Its lanes are 64 bytes apart, so that each of the 16 loads of a warp touches 32 sectors for 32
components, and each of the 16 stores too: 32 and 32. Loads of four floats touch 32 sectors for 128 components: 8. 16 lanes that share a
vector and all load its components one by one touch 2 sectors for 2 components: 32 again, though only 2 a request. Through shared memory
it is 4 and 4. Variant b has the results component after component: the starter stores them side by side, 4 from the beginning.

Wavefronts: a component is stored to shared memory and loaded from it once on its way in, and once more on its way out. 32 of each without
conflicts are 4 wavefronts. Rows of 16 words have a column in 2 banks: an access down it takes 16. (The sum is the compiler's affair,
which may load four words of such a row at once.) Rows of 17 have a column in 32 banks, but 32 lanes along two rows want the words 0 to
15 and 17 to 32, and 0 and 32 lie in one bank: 2 + 1 each way, 6. So with every odd length, as two rows are not 16 banks apart. Both
accesses take 1 when a word is left out after every 32 words, and not after every vector, or when each row has its components in an order
of its own. The limit of 4.5 lies below 5: one way with a conflict, the other without.

A kernel of shuffles has no wavefronts. So in part 3 all results must be 0 when zeros are read from shared memory, and change as
vectors or results do when one word of each thread changes.
"""

from collections.abc import Callable

import numpy as np

from course_lib import model, simt
from course_lib.check.mxv import Mxv, VectorsCase, all_cases, drawn, gate_case, vector_grid
from course_lib.grading.exercises.e06_bank_conflicts import wavefronts_per_work
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.made_of import from_shared, vectors_through_shared
from course_lib.grading.judge.spec import SECTORS_LOADED, SECTORS_STORED, Gate, Reading, Spec, per_work

EXERCISE = "13_matrix_vector"
LANES = np.arange(32)
LEAST = 4.0              # sectors of 32 components


def sectors_of(N: int, chunk: int, k: int) -> int:
    """Return the sectors of a request in which `chunk` lanes share a vector of N floats, by looking at every lane.

    >>> [sectors_of(16, chunk, 0) for chunk in (1, 2, 4, 8, 16)]
    [32, 16, 8, 4, 4]
    """
    return model.sectors(4 * (LANES // chunk * N + k + LANES % chunk))


def _mistake(given, got):
    """Name the mistake behind a wrong number of sectors."""
    N, chunk, k = given
    firsts = LANES[::chunk] // chunk * N + k
    known = (
        (lambda: got > 32, "Each of the 32 lanes touches one sector, so there are never more than 32"),
        (lambda: got < 1, "Some lane always touches some sector"),
        (lambda: got == sectors_of(N, 1, k), f"That is for a lane a vector. Here {chunk} neighbouring lanes read one vector"),
        (lambda: got == sectors_of(N, chunk, 0), f"That is right for k = 0. Here the first lane wants float {k}: where in its sector "
                                                 "of 8 floats is that?"),
        (lambda: got == int(np.sum((firsts + chunk - 1) // 8 - firsts // 8 + 1)),
         "A sector that holds the end of one vector and the beginning of the next is counted once, not for each of them"),
        (lambda: got == len(np.unique((firsts[:, None] + np.arange(chunk)) // 32)),
         "That counts lines of 128 bytes; a sector has 32 bytes, 8 floats"),
        (lambda: got == model.sectors(4 * (LANES % chunk * N + k + LANES // chunk)),
         "Lane l reads vector l // chunk, component k + l % chunk"),
        (lambda: got == 4, "4 sectors hold the 128 bytes that are wanted; fetched is every sector that some lane touches"),
        (lambda: got == 32 // chunk, f"{32 // chunk} vectors are read; how many sectors does the part of one reach into, and do two "
                                     "vectors share some?"),
    )
    return next((says for holds, says in known if holds()), "")


def _some_requests(rng):
    """Draw sizes of vectors, lanes a vector, and first components."""
    for _ in range(24):
        chunk = 2 ** int(rng.integers(0, 5))
        N = chunk + int(rng.integers(0, 24))
        yield N, chunk, int(rng.integers(0, N - chunk + 1))


def sectors_per_work(counter: str) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads the sectors for 32 components; fewer than their bytes fill means that some moved in another way."""
    plain = per_work(counter)

    def read(report, work):
        reading = plain(report, work)
        if reading.value < LEAST:
            why = "fewer than the data fill, so some of it moves in a way that is not counted here"
            return Reading(float("inf"), f"{reading.words}: {why}")
        return reading

    return read


def _stores(starter):
    return Gate("global sectors stored per 32 components", sectors_per_work(SECTORS_STORED), limit=4.5, starter=starter, achievable=4.0,
                advice="Neighbouring lanes shall store neighbouring floats of out: collect the results in shared memory first")


LOADS = Gate("global sectors loaded per 32 components", sectors_per_work(SECTORS_LOADED), limit=4.5, starter=32.0, achievable=4.0,
             advice="Neighbouring lanes shall load neighbouring floats of in: bring the block's vectors into shared memory first")
FRONTS = Gate("shared wavefronts per 32 components", wavefronts_per_work, limit=4.5, starter=0.0, achievable=4.0,
              advice="A component goes to shared memory once and is read there once, on its way in, and the same on its way out: one of these "
                     "accesses is more than that",
              banks="Look at both uses of rows: 32 lanes go down a column, and 32 lanes go along two rows. Where are their banks?")


def _part(part, title, entry, gates, by_component="", made_of=()):
    return Spec(EXERCISE, part, title, entry, Mxv(by_component), ("THREADS",), grid=vector_grid, block=lambda tile: (tile["THREADS"], 1, 1),
                cases=all_cases, gate_case=gate_case, gates=gates, drawn=drawn,
                gate_drawn=lambda tile, rng: VectorsCase("counters, of a drawn size", int(rng.integers(3, 9)) * tile["THREADS"]), made_of=made_of)


PARTS = (
    FunctionSpec(EXERCISE, "predict", "Part 1: predict the sectors of a request", "sectors", ("N", "chunk", "k"),
                 cases=((16, 1, 0), (16, 2, 0), (16, 4, 0), (16, 8, 0), (16, 16, 0), (4, 1, 0), (2, 1, 1), (8, 8, 0), (6, 1, 5), (6, 2, 4),
                        (12, 4, 6), (20, 16, 3), (5, 4, 1), (33, 32, 1), (40, 32, 8)),
                 drawn=_some_requests, expected=sectors_of, guess=_mistake),
    _part("main", "Part 2: vectors side by side", "mxv_sh", (LOADS, _stores(32.0))),
    _part("main-b", "Part 2: results component after component", "mxv_apart", (LOADS, _stores(4.0)), by_component="out"),
    _part("free", "Part 3: no lane waits", "mxv_free", (LOADS, _stores(32.0), FRONTS), made_of=(from_shared, vectors_through_shared)),
)
