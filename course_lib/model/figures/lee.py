"""The figures of Lee's slides, GTX 690."""

from collections.abc import Iterator

import numpy as np

from course_lib.arch import device
from course_lib.model.banks import shared_wavefronts
from course_lib.model.figures import OFF, Figure
from course_lib.model.old_banks import bank_table, half_warp_steps
from course_lib.model.tiles import blocks, iterations

GTX = device("GTX 690")
LEFT, RIGHT = np.array([[1, 2], [3, 4]]), np.array([[2, 0], [1, 2]])
TABLE = {0: "0 64 128 16320", 1: "4 68 132 16324", 2: "8 72 136 16328", 15: "60 124 100 16200"}


def _row(place, what, printed, exact, function, **more):
    return Figure("L", place, what, printed, exact, f"model.{function}", **more)


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    for first, second, name, printed in ((LEFT, RIGHT, "AB", "4 4 10 8"), (RIGHT, LEFT, "BA", "2 4 7 10")):
        for at, (text, exact) in enumerate(zip(printed.split(), (first @ second).ravel().tolist(), strict=True)):
            yield _row("Motivation", f"{name}, row {at // 2}, column {at % 2}", text, exact, "figures.lee")
    yield _row("Environment", "cores", "1536", GTX.sms * GTX.cores_per_sm, "peak")
    yield _row("Environment", "clock, GHz", "1.02", GTX.clock_mhz / 1e3, "peak")
    yield _row("Environment", "threads a block", "1024", GTX.limits.threads_per_block, "occupancy")
    yield _row("Tiling", "16 x 16 tiles of a 32 x 32 matrix", "4", blocks(32, 16), "tiles.blocks", remark="printed as FOUR")
    yield _row("Tiling", "iterations of a block", "2", iterations(32, 16), "tiles.iterations", remark="printed as twice")
    yield _row("Loop Unrolling", "lines the loop over a tile becomes", "16", iterations(16, 1), "tiles.iterations", remark="written out")
    yield from _banks()


def _banks():
    lanes = np.arange(32)
    column = 4 * (lanes % 16 * 16)
    wrong = "16 banks are of CC 1.x; the GTX 690 has 32, where the column is 8-way (4-way by Kepler's own rule)"
    yield _row("Bank conflict", "ways of a column of 16 x 16 on 16 banks", "16", max(half_warp_steps(column)), "half_warp_steps",
               remark=wrong)
    yield _row("Bank conflict", "the rate that is left", "1/16", 1 / max(half_warp_steps(column)), "half_warp_steps", remark=wrong)
    yield _row("Bank conflict", "the same ways on the GTX 690", "16", shared_wavefronts(column), "shared_wavefronts", how=OFF, remark=wrong)
    yield _row("Bank conflict", "KB of shared memory an SM", "16", GTX.limits.shared // 1024, "occupancy", how=OFF,
               remark="16 KB are of CC 1.x; the GTX 690 has 48")
    yield _row("Bank conflict", "KB of a bank, 16 KB in 16 banks", "1", 16 / 16, "bank_table")
    table = bank_table(16)
    for bank, line in TABLE.items():
        for at, (printed, exact) in enumerate(zip(line.split(), table[bank].tolist(), strict=True)):
            off = {"how": OFF, "remark": "the scan has 100 and 16200"} if printed in ("100", "16200") else {}
            place = f"address {at + 1} of bank {bank}" if at < 3 else f"last address of bank {bank}"
            yield _row("Avoiding Bank Conflict", place, printed, exact, "bank_table", **off)
