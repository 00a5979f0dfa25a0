"""Exercise 15, "Within a budget": what a tile must move, then a kernel that moves it so, then loads under the work.

All for a multiply-add of a warp, 32 at once. A block loads BK (BM + BN) words for BM · BN · BK multiply-adds: w = 32 (1/BM + 1/BN) words
each, 1 for 64 × 64. At best a request brings 128 words (128 bits a lane), a sector 8, and a wavefront stores 32: w / 128, w / 8, w / 32.

The starter is exercise 08's `wide` with 64 × 64. Its warps have 4 × 8 threads (ty × tx). Loads of one word: w / 32 requests; 4 rows of 8
words are 4 sectors. Stores of A's tile: 8 lanes that neighbour along k go to one bank, 8 wavefronts for 32 words; of B's: 4 rows of 64, 4
wavefronts. Half of the words each: 6 w / 32 = 0.1875. With A stored column by column both are 4: 0.125. Its loads are exercise 08's: two
LDS.128 for B, 4 wavefronts each, two for A, whose lanes l and l ^ 1 share a row, so that phases merge, 2 each: 12 / 64 = 0.1875.

Achievable: w / 128, w / 8. A warp's 32 loads of four floats are 16 rows of A with two fours each; stored word by word, one goes to rows k
and k + 4 of the tile. These are 4 (64 + p) words apart, which is 16 banks for p = 4: no conflict, w / 32. Without padding it is 0, and
A's half counts twice: 0.0469. With l and l ^ 1 in a row and l and l ^ 2 in a column both tiles' phases merge: 4 · 2 / 64 = 0.125.

The limits lie below what misses one of the points: vectors for one matrix only, (w / 32 + w / 128) / 2 = 0.0195 requests; a thread for
each row of A, half of each sector for another load, 0.1875 sectors; rows of the tile that are not padded, 0.0469 wavefronts stored;
exercise 08's lanes, 0.1875 loaded. 128 registers leave room for 16 warps on a multiprocessor of 65,536, in 8 blocks; with 8 KiB of shared
memory each they take 64 KiB.

Part 3: 8 tiles along K. Two barriers each; one each, if that behind the last tile is left out, 8 / 8; with it 9 / 8. Who leaves out the
last of two has 15 / 8. All loads of the starter are stored at once; with two buffers only the first tile's, 1 of 8. Who hides one matrix
of the two has 9 / 16.

In part 2 each product must have both factors from shared memory, word by word. In part 3 a tile is what a warp reads between two barriers, so
that two tiles of the text cannot be one, and a load is hidden by half of a tile's reads. Reads that serve nothing would do as well; that is
why one thread of each of 25 blocks loses a read, and three quarters of these must change C.
"""

from dataclasses import replace

from course_lib import simt
from course_lib.check.case import Case, all_cases, whole_sectors
from course_lib.check.case import drawn_gate_case
from course_lib.check.case import gate_case as counters_case
from course_lib.check.sgemm import Sgemm
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.in_order import barriers_per_tile, loads_in_the_open
from course_lib.grading.judge.machine_code import local_bytes, per_warp, registers
from course_lib.grading.judge.made_of import reads_are_used, through_shared
from course_lib.grading.judge.spec import Gate, Reading, Spec, by_line, conflicts_by_line, tile_grid
from course_lib.kernels.kernel import ceil_div
from course_lib.run import counter_name

EXERCISE = "15_closing_in"
TILES = 8                # along K, on the input of part 3's gates
MOST_TRACED = 4          # warps of a block
STORES = (counter_name("wavefronts", "store"), "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum")

VECTORS = "Load four neighbours of a row at once, as a float4, wherever the row's address is a multiple of 16 bytes"
WHOLE = "Load each element of a tile once; of a larger tile each serves more outputs"
LANES = "With 8 × 8 outputs a thread, lanes l and l ^ 1 should have the same rows, l and l ^ 2 the same columns: then phases are served two by two, of both tiles"
FOURS = "Let a thread read four neighbours at once, and its next four half a tile on, so that neighbouring lanes read neighbouring fours"
NARROW = "Its loads are not of four words: let each row of a tile begin at a multiple of 16 bytes, and read four neighbours at once"
STORED_ONCE = "Store each element of a tile once, 32 of them at a time"
BANKS = "Lanes of one store should find banks of their own: how many words apart are the rows of the tile that they store to?"
FEWER = "__launch_bounds__(threads, blocks) tells the compiler how many blocks an SM should hold; a smaller tile of a thread takes fewer"
SMALLER = "The budget is for small tiles: BK (BM + BN) floats, and the padding"
ONE = "With two buffers nobody overwrites what others still read: the barrier after the products can go"
UNDER = "Load the next tile before the products, into registers, and store it to the other buffer after them"


def shared_bytes(report: simt.Report, work: float) -> Reading:
    """Read how many bytes of shared memory a block takes; of the report, `resources` is read."""
    size = report.resources.static_shared_bytes
    return Reading(float(size), f"{size // 4} floats")


def loaded(report: simt.Report, work: float) -> Reading:
    """Read the wavefronts that load from shared memory, for each multiply-add of a warp; a load of four words takes two or more."""
    reading, asked = per_warp("wavefronts")(report, work), report.counters[counter_name("shared instructions", "load")]
    narrow = report.counters[counter_name("wavefronts", "load")] < 1.5 * asked
    return replace(reading, advice=NARROW) if narrow else reading


def stored(report: simt.Report, work: float) -> Reading:
    """Read the wavefronts that store to shared memory, by stores and by asynchronous copies, for each multiply-add of a warp."""
    count = sum(report.counters[name] for name in STORES)
    return Reading(32 * count / work, f"{count} / {work // 32} of warps", by_line(report, STORES), conflicts_by_line(report, STORES))


def _budget(writes, held):
    """Return the gates of the main part; `writes`: the starter's wavefronts stored, `held`: registers and bytes of starter and solution."""
    (registers_now, then), (bytes_now, after) = held
    return (
        Gate("global load requests per multiply-add of a warp", per_warp("requests"), 0.01, 1 / 32, 1 / 128, VECTORS),
        Gate("global sectors loaded per multiply-add of a warp", per_warp("sectors"), 0.15, 1 / 8, 1 / 8, WHOLE, sectors="load"),
        Gate("shared wavefronts loaded per multiply-add of a warp", loaded, 0.15, 12 / 64, 8 / 64, LANES, FOURS),
        Gate("shared wavefronts stored per multiply-add of a warp", stored, 0.04, writes, 1 / 32, STORED_ONCE, BANKS, BANKS),
        Gate("bytes of a thread in local memory", local_bytes, 0.0, 0.0, 0.0),
        Gate("registers a thread", registers, 128.0, registers_now, then, FEWER),
        Gate("bytes of shared memory a block", shared_bytes, 8192.0, bytes_now, after, SMALLER),
    )


ORDER = (Gate("barriers of a warp per tile along K", barriers_per_tile, 1.25, 2.0, 1.0, ONE),
         Gate("global loads that no work hides, of all", loads_in_the_open, 0.3, 1.0, 0.125, UNDER))


def _part(part, title, entry, gates, transposed=""):
    return Spec(EXERCISE, part, title, entry, Sgemm(transposed), ("BM", "BN", "BK", "TM", "TN"), grid=tile_grid,
                block=_threads, cases=all_cases, gate_case=counters_case, gates=gates, gate_drawn=drawn_gate_case, made_of=(through_shared(2),))


def _threads(tile):
    return tile["BN"] // tile["TN"], tile["BM"] // tile["TM"], 1


def _traced(case, tile, rng):
    """Return warps of one block, both drawn."""
    x, y, _ = _threads(tile)
    columns, rows, _ = tile_grid(case, tile)
    block = int(rng.integers(columns)), int(rng.integers(rows)), 0
    warps = rng.permutation(ceil_div(x * y, 32))[:MOST_TRACED]
    return tuple((block, int(warp)) for warp in sorted(warps))


def _deep(tile, rng):
    """Return another input for part 3: a few blocks, and more tiles along K."""
    return Case("counters, of a drawn size", int(rng.integers(1, 3)) * tile["BM"], 2 * tile["BN"], int(rng.integers(TILES + 1, 13)) * tile["BK"],
                pad=whole_sectors(rng))


def _plan(BM, BN, BK):
    words = 32 * (1 / BM + 1 / BN)
    return words / 128, words / 8, words / 32, 4 * BK * (BM + BN)


def _drawn(rng):
    yield from ((16 * int(rng.integers(1, 17)), 16 * int(rng.integers(1, 17)), 8 * int(rng.integers(1, 9))) for _ in range(4))


_OF_ONE = {1 / 32: "That is for a multiply-add of a thread; a warp executes 32 at once", 32: "A warp executes 32 multiply-adds at once"}
_MISTAKES = (
    ("requests", {4: "That is with one float a lane; 128 bits are four, so that a request of 32 lanes brings 128",
                  128: "That is words; a request of 32 lanes with four floats each brings 128 of them"} | _OF_ONE),
    ("sectors", {8: "That is words; a sector is 32 bytes, 8 words", 0.25: "A sector is 32 bytes: 8 words, not 32"} | _OF_ONE),
    ("wavefronts", {0.25: "A store of 128 bits a lane takes 4 wavefronts: each moves 32 words",
                    32: "That is words; a wavefront stores 32 of them"} | _OF_ONE),
    ("bytes", {0.25: "That is floats; each has 4 bytes", 2: "That is for two buffers; part 2 has one"}),
)


def _guess(given, got):
    """Say which mistake gives the first wrong number of four."""
    BM, BN, BK = given
    if not isinstance(got, tuple | list) or len(got) != len(_MISTAKES):
        return ""
    of_tile = {BM * BN * BK / 32: "That is for a whole tile; divide by its multiply-adds of a warp, BM · BN · BK / 32"}
    for (name, mistakes), value, right in zip(_MISTAKES, got, _plan(*given), strict=True):
        known = mistakes | (of_tile if name != "bytes" else {})
        if abs(value / right - 1) > 1e-9:
            return next((f"{name.capitalize()}: {says}" for factor, says in known.items() if abs(value / right / factor - 1) < 1e-9),
                        f"Look at the {name}")
    return ""


PARTS = (
    FunctionSpec(EXERCISE, "plan", "Part 1: what a tile must move", "plan", ("BM", "BN", "BK"),
                 ((64, 64, 8), (128, 128, 8), (32, 32, 8), (64, 128, 16), (96, 48, 24), (16, 256, 32)), _drawn, _plan,
                 tolerance=1e-9, guess=_guess),
    _part("main", "Part 2: within the budget", "lean", _budget(6 / 32, ((95.0, 113.0), (4096.0, 4224.0)))),
    _part("main-b", "Part 2: within the budget (A stored column by column)", "lean_at",
          _budget(4 / 32, ((96.0, 122.0), (4096.0, 4096.0))), "A"),
    replace(_part("ahead", "Part 3: load under the work", "ahead", ORDER), trace=_traced, gate_drawn=_deep,
            gate_case=lambda t: Case("counters", t["BM"], t["BN"], TILES * t["BK"]), made_of=(reads_are_used,)),
)
