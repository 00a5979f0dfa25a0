"""Exercise 06, "Transpose in place; then without padding": count a bank's words, transpose a matrix where it lies, then sum rows without padding.

All gates count what 32 elements cost, as many as a warp moves at once. 32 floats are 4 sectors of 32 bytes, along a row. The plain
kernel of part 2 swaps elements above the diagonal with those below it: 4 sectors for 32 of the one, 32 for 32 of the other, which makes
18 on average; in tiles on the diagonal it is a little less. A tile in shared memory is written once and read once: 2 wavefronts without
conflicts, and 3 where (A + Aᵀ) / 2 needs each tile along its rows, too (variant b). Down a column of a tile of 32 × 32 a read takes 32.

The plain kernel of part 3 lets neighbouring lanes sum neighbouring rows: 32 sectors for 32 elements. It counts bytes, too: the gates' input
has 2 × 2 tiles, so 4 blocks' bytes for 32 n elements, whatever TILE is. A tile of 32 × 32 floats has 4 for each, one of 32 × 33 has 4.1250.

Fewer than 4 sectors for 32 elements cannot move them. Along the rows of A, lane c loads element (r, c) and lane r stores it, so each element
is written to shared memory and read there, 2 wavefronts, or goes by a shuffle. Sums need neither: a lane may keep what it adds up.
"""

from math import gcd

import numpy as np

from course_lib import simt
from course_lib.arch import BANKS, WARP
from course_lib.check import in_place, row_sums
from course_lib.check.case import whole_sectors
from course_lib.check.in_place import InPlace
from course_lib.check.row_sums import RowSums
from course_lib.check.transpose import PER, Sheet, tile_grid
from course_lib.grading.judge.bounds import Bound, per_work_of, shuffles
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.spec import SECTORS_LOADED, SECTORS_STORED, Gate, Reading, Spec, by_line, conflicts_by_line, per_work
from course_lib.model.banks import shared_wavefronts

EXERCISE = "06_bank_conflicts"
WAVEFRONTS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
              "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum")
TILES = 4             # in the input of the gates
SWAPPED = 17.9375     # sectors per 32 elements of 2 × 2 tiles, of which two lie on the diagonal, as the plain kernel swaps them


def wavefronts_per_work(report: simt.Report, work: float) -> Reading:
    """Return the wavefronts of all accesses to shared memory, for each piece of work."""
    count = sum(report.counters[name] for name in WAVEFRONTS)
    return Reading(count / work, f"{count} / {work}", by_line(report, WAVEFRONTS), conflicts_by_line(report, WAVEFRONTS))


def bytes_per_element(report: simt.Report, work: float) -> Reading:
    """Return a block's bytes of shared memory for each element of a tile."""
    size = sum(variable.nbytes for variable in report.shared)
    return Reading(TILES * size / (PER * work), f"{size} bytes a block")


def _sectors(what, kind, counter, starter):
    return Gate(f"global sectors {what} per 32 elements", per_work(counter), limit=4.5, starter=starter, achievable=4.0,
                advice="Each element shall be moved once, and neighbouring lanes shall go along a row, for both tiles of a pair", sectors=kind)


def _fronts(achievable):
    return Gate("shared wavefronts per 32 elements", wavefronts_per_work, limit=achievable + 0.5, starter=0.0, achievable=achievable,
                advice="Write each element to shared memory once, and read it there once: one of these accesses is more than that",
                banks="Each lane that goes down a column shall find a bank of its own")


FRONTS = _fronts(2.0)
BYTES = Gate("shared bytes per element of a tile", bytes_per_element, limit=4.0, starter=0.0, achievable=4.0,
             advice="A tile has room for its elements and no more: no padding")
LOADS = Gate("global sectors loaded per 32 elements", per_work(SECTORS_LOADED), limit=4.5, starter=32.0, achievable=4.0,
             advice="Let neighbouring lanes read neighbours of a row, and keep a tile of them in shared memory")
PAIRS = (_sectors("loaded", "load", SECTORS_LOADED, SWAPPED), _sectors("stored", "store", SECTORS_STORED, SWAPPED))


def _gate_drawn(tile, rng):
    """Draw another square of whole tiles; the gate on bytes, which reckons with 2 × 2, reads less there."""
    size = tile["TILE"] * int(rng.integers(3, 6))
    return Sheet("counters, of a drawn size", size, size, pad=whole_sectors(rng))


def _exchanged(report, case, tile, work):
    return (sum(report.counters[name] for name in WAVEFRONTS) + 2 * shuffles(report)) / work


def _moved(what, counter):
    return Bound(f"global sectors {what} per 32 elements", per_work_of(counter), least=4.0,
                 low="32 floats fill 4 sectors, so some of them move in a way that is not counted: use plain loads and stores")


MOVED = (_moved("loaded", SECTORS_LOADED), _moved("stored", SECTORS_STORED),
         Bound("shared wavefronts, or two for a shuffle, per 32 elements", _exchanged, least=1.9,
               low="Along the rows of A, the lane that loads an element is not the one that stores it: it has to go through shared memory, "
                   "written once and read once"))


def _part(part, title, entry, operation, gates, module, grid=tile_grid, bounds=MOVED):
    return Spec(EXERCISE, part, title, entry, operation, ("TILE", "ROWS"), grid=grid, block=lambda tile: (tile["TILE"], tile["ROWS"], 1),
                cases=module.all_cases, gate_case=module.gate_case, gates=gates, drawn=module.drawn, gate_drawn=_gate_drawn, bounds=bounds)


def _expected(row_length, lanes):
    return shared_wavefronts(4 * row_length * np.arange(WARP), active=np.arange(WARP) < lanes)


def _drawn(rng):
    return [(int(rng.integers(1, 130)), int(rng.integers(1, 33))) for _ in range(12)] + [(32 * int(rng.integers(1, 5)), 9)]


def _guess(given, got):
    row_length, lanes = given
    words = {row_length * lane for lane in range(lanes)}
    banks = {word % BANKS for word in words}
    if row_length == 0 and got == lanes:
        return "All lanes want one word here: it is read once and sent to all of them"
    if got == _expected(*given) - 1:
        return "An access without conflicts takes 1 wavefront, not 0: count wavefronts, not conflicts"
    if got == len(banks):
        return f"The lanes meet in {len(banks)} banks; asked is how many words the busiest bank has to give, one after another"
    if got == gcd(row_length, BANKS):
        return f"gcd(row_length, 32) is right for 32 lanes; here only {lanes} take part, and fewer of them meet in a bank"
    return "Lane l wants word row_length * l, in bank row_length * l mod 32: how many different words has the busiest bank to give?"


PARTS = (
    FunctionSpec(EXERCISE, "count", "Part 1: count wavefronts", "wavefronts", ("row_length", "lanes"),
                 cases=((33, 32), (32, 32), (34, 32), (36, 32), (40, 32), (48, 32), (1, 32), (31, 32), (64, 32), (96, 7), (32, 1), (16, 16),
                        (20, 32), (24, 9), (0, 32)),
                 drawn=_drawn, expected=_expected, guess=_guess),
    _part("swap", "Part 2: transpose in place", "transposed_in_place", InPlace(), (*PAIRS, FRONTS), in_place),
    _part("swap-b", "Part 2: make symmetric", "symmetrised", InPlace(averages=True), (*PAIRS, _fronts(3.0)), in_place),
    _part("sums", "Part 3: sum rows without padding", "row_sums", RowSums(), (LOADS, FRONTS, BYTES), row_sums, row_sums.grid, MOVED[:1]),
)
