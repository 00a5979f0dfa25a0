"""Exercise 06, "Transpose without conflicts": count a bank's words, then turn a tile with padding, then without.

All gates count what 32 elements cost, as many as a warp moves at once. 32 floats are 4 sectors of 32 bytes: read along a row, and written
along a row, 4 sectors each. The plain kernel writes down a column, and so touches 32 sectors. A tile in shared memory is written once and
read once: 2 wavefronts without conflicts. Down a column of a tile of 32 × 32 a read takes 32, which makes 33 of the 2.

Variant b of the main part adds a matrix: B, of the same shape as C, is loaded too, 4 + 4 sectors; the plain kernel reads it as it writes
C, down a column: 4 + 32.

Part 3 counts bytes too. 4 blocks of S bytes each turn the gates' 2 × 2 tiles, whatever TILE is: 4 S bytes for 32 n elements. A tile of
32 × 32 floats has 4 bytes for each, one of 32 × 33 has 4.1250.
"""

from math import gcd

import numpy as np

from course_lib.arch import BANKS, WARP
from course_lib.check.transpose import PER, Transpose, adding_cases, adding_drawn, all_cases, drawn, gate_case, tile_grid
from course_lib.grading.function_spec import FunctionSpec
from course_lib.grading.spec import SECTORS_LOADED, SECTORS_STORED, Gate, Reading, Spec, per_work
from course_lib.model.banks import shared_wavefronts

WAVEFRONTS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
              "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum")
BLOCKS = 4            # that turn the input of the gates


def wavefronts_per_work(report, work):
    """Return the wavefronts of all accesses to shared memory, for each piece of work."""
    shares = {line: count for line, values in report.lines.items() if (count := sum(values.get(name, 0) for name in WAVEFRONTS))}
    count = sum(report.counters[name] for name in WAVEFRONTS)
    return Reading(count / work, f"{count} / {work}", shares)


def bytes_per_element(report, work):
    """Return the bytes of shared memory for each element of a block's tile."""
    size = sum(variable.nbytes for variable in report.shared)
    return Reading(BLOCKS * size / (PER * work), f"{size} bytes a block")


def _loads(starter, achievable):
    return Gate("global sectors loaded per 32 elements", per_work(SECTORS_LOADED), limit=1.125 * achievable, starter=starter,
                achievable=achievable, advice="Neighbouring lanes shall read neighbours of a row, of every matrix")


STORES = Gate("global sectors stored per 32 elements", per_work(SECTORS_STORED), limit=4.5, starter=32.0, achievable=4.0,
              advice="Neighbouring lanes shall write neighbours of a row: turn the tile in shared memory, and exchange the block's indices")
FRONTS = Gate("shared wavefronts per 32 elements", wavefronts_per_work, limit=2.5, starter=0.0, achievable=2.0,
              advice="Each lane that goes down a column shall find a bank of its own: how long is a row of the tile, in words?")
BYTES = Gate("shared bytes per element of a tile", bytes_per_element, limit=4.0, starter=0.0, achievable=4.0,
             advice="A tile has room for its elements and no more: move them within their rows instead of padding the rows")


def _part(part, title, entry, gates, adds=False):
    cases, more = (adding_cases, adding_drawn) if adds else (all_cases, drawn)
    return Spec("06_bank_conflicts", part, title, entry, Transpose(adds), ("TILE", "ROWS"), grid=tile_grid,
                block=lambda tile: (tile["TILE"], tile["ROWS"], 1), cases=cases, gate_case=gate_case, gates=gates, drawn=more)


def _expected(row_length, lanes):
    return shared_wavefronts(4 * row_length * np.arange(WARP), active=np.arange(WARP) < lanes)


def _drawn(rng):
    return [(int(rng.integers(1, 130)), int(rng.integers(1, 33))) for _ in range(12)] + [(32 * int(rng.integers(1, 5)), 9)]


def _guess(given, got):
    row_length, lanes = given
    words = {row_length * lane for lane in range(lanes)}
    banks = {word % BANKS for word in words}
    if row_length == 0 and got == lanes:
        return "All lanes want one word here: it is read once and handed to all of them"
    if got == _expected(*given) - 1:
        return "An access without conflicts takes 1 wavefront, not 0: count wavefronts, not conflicts"
    if got == len(banks):
        return f"The lanes meet in {len(banks)} banks; asked is how many words the busiest bank has to give, one after another"
    if got == gcd(row_length, BANKS):
        return f"gcd(row_length, 32) is right for 32 lanes; here only {lanes} take part, and fewer of them meet in a bank"
    return "Lane l wants word row_length * l, in bank row_length * l mod 32: how many different words has the busiest bank to give?"


PARTS = (
    FunctionSpec("06_bank_conflicts", "count", "Part 1: count wavefronts", "wavefronts", ("row_length", "lanes"),
                 cases=((33, 32), (32, 32), (34, 32), (36, 32), (40, 32), (48, 32), (1, 32), (31, 32), (64, 32), (96, 7), (32, 1), (16, 16),
                        (20, 32), (24, 9), (0, 32)),
                 drawn=_drawn, expected=_expected, guess=_guess),
    _part("turn", "Part 2: turn a matrix", "turned", (_loads(4.0, 4.0), STORES, FRONTS)),
    _part("turn-b", "Part 2: C = alpha Aᵀ + B", "turned_plus", (_loads(36.0, 8.0), STORES, FRONTS), adds=True),
    _part("swizzle", "Part 3: without padding", "swizzled", (_loads(4.0, 4.0), STORES, FRONTS, BYTES)),
)
