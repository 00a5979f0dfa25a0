"""What the kernels of lesson 08 take: recorded times, and the least time that shared memory, issue and arithmetic need."""

import re
from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.lessons.register_blocking.counts import wavefronts, words_per_multiply_add
from course_lib.model.rounds import SCHEDULERS
from course_lib.plots import Table
from course_lib.run import footprint
from course_lib.run.bound import work_of
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED = 4096, 256
TILED: tuple[str, dict[str, int]] = ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16})
RUNGS: tuple[tuple[int, int, str, dict[str, Any]], ...] = (
    (1, 1, *TILED),
    (4, 1, "sgemm_ilp", {"TILE": 32, "OUT": 4}),
    (8, 1, "sgemm_1d_tile", {"BM": 64, "BN": 64, "BK": 8, "TM": 8}),
    (2, 2, "sgemm_2d_tile", {"BM": 32, "BN": 32, "BK": 32, "TM": 2, "TN": 2}),
    (4, 4, "sgemm_2d_tile", {"BM": 64, "BN": 64, "BK": 16, "TM": 4, "TN": 4}),
    (8, 8, "sgemm_2d_tile", {"BM": 128, "BN": 128, "BK": 8, "TM": 8, "TN": 8}),
)


def recorded_rung(kernel: str, tile: dict[str, int]) -> dict[str, Any]:
    """Return the recorded time at N = 4096, and the clock."""
    return data.in_turns(kernel) if kernel == "sgemm_ilp" else data.in_turns(kernel, **tile)       # as the file names them


def library() -> float:
    """Return the library's seconds at N = 4096."""
    return data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds


def names() -> tuple[str, ...]:
    """Return what the rungs are called in tables."""
    said = {(1, 1): "tiled, lesson 04", (4, 1): "column: 4 × 1", (8, 1): "as yours: 8 × 1"}
    found = tuple(said.get((TM, TN), f"square: {TM} × {TN}") for TM, TN, *_ in RUNGS)
    return tuple(re.sub(r"(\d) × (\d)", "\\1\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}\\2", name) for name in found)


def scoreboard() -> Table:
    """Return the ladder so far: tile, words, wavefronts, warps, time, and speed in percent of the library's."""
    best, rows = library(), []
    for name, (TM, TN, kernel, tile) in zip(names(), RUNGS, strict=True):
        seconds, warps = recorded_rung(kernel, tile)["median_s"], footprint(kernel, **tile).occupancy
        waves = wavefronts(evaluate(kernel, N_COUNTED, tile, backend="sim"))
        high, wide, deep = (tile.get(side) or tile["TILE"] for side in ("BM", "BN", "BK"))
        shape = f"{high} × {wide}, BK = {deep}".replace(" ", "\N{NO-BREAK SPACE}")
        rows.append((name, shape, f"{float(words_per_multiply_add(TM, TN)):.3f}", f"{waves:.3f}",
                     f"{warps.warps} ({warps.fraction:.0%})", f"{1e3 * seconds:.1f}", f"{best / seconds:.1%}"))
    rows.append(("NVIDIA's library, cuBLAS", "", "", "", "", f"{1e3 * best:.1f}", "100.0%"))
    header = ("kernel", "tile of C", "words per multiply-add", "wavefronts, loads and stores, per multiply-add of a warp",
              "warps per multiprocessor", "ms", "speed, % of cuBLAS")
    told = [recorded_rung(kernel, tile) for _, _, kernel, tile in RUNGS]
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, times {data.readings('together').label}, {data.spread(told)}, to "
                 f"{data.clocks(told)}; cuBLAS recorded on {data.load('ladder').date}; wavefronts simulated at N = {N_COUNTED}, "
                 "warps modelled for H200")


def least(kernel: str, tile: dict[str, int]) -> dict[str, float]:
    """Return the seconds that shared memory, issue and arithmetic each need at least at N = 4096, from counts at N = 256.

    Each multiprocessor serves one wavefront per cycle, and each of its four schedulers issues one instruction and starts at most one
    multiply-add of a warp, at the GPU's highest clock.
    """
    result = evaluate(kernel, N_COUNTED, tile, backend="sim")
    work, device = work_of(result), DEFAULT_DEVICE
    warp_adds, cycles = N_TIMED**3 / 32, device.sms * 1e6 * device.clock_mhz
    return {"shared": wavefronts(result) * warp_adds / cycles, "issue": work.instructions / work.fmas * warp_adds / cycles / SCHEDULERS,
            "fma": warp_adds / cycles / SCHEDULERS}


def by_depth() -> Table:
    """Return the recorded times of 2 × 2 outputs by the depth of the tile and by the warps, with shared memory that nobody uses."""
    rows, told, found = [], [], data.readings("together")
    eight, = found.find(kernel="sgemm_1d_tile")
    for BK in (16, 32):
        cases = sorted((row for row in found.find(kernel="sgemm_2d_tile") if row["parameters"]["BK"] == BK and row["parameters"]["TM"] == 2
                        and row["shared"]), key=lambda row: -row["shared"])          # the more of it, the fewer warps
        told += cases
        rows.append((f"2 × 2, BK = {BK}", *(f"{1e3 * row['median_s']:.2f}" for row in cases)))
    rows.append(("8 × 1, BK = 8", f"{1e3 * eight['median_s']:.2f}", ""))
    return Table(("outputs per thread", "32 warps, ms", "48 warps, ms"), rows,
                 f"{N_TIMED} × {N_TIMED} matrices, {found.label}, {data.spread([*told, eight])}; warps modelled for H200")


def limits() -> Table:
    """Return the recorded time of each rung beside the least that three parts of the GPU need for their share."""
    rows = []
    for name, (_, _, kernel, tile) in zip(names(), RUNGS, strict=True):
        needed, seconds = least(kernel, tile), recorded_rung(kernel, tile)["median_s"]
        rows.append((name, f"{1e3 * seconds:.1f}", *(f"{1e3 * needed[what]:.1f}" for what in needed)))
    header = ("kernel", "recorded, ms", "shared memory alone, ms", "issuing instructions alone, ms", "multiply-adds alone, ms")
    told = data.clocks(recorded_rung(kernel, tile) for _, _, kernel, tile in RUNGS)
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices: {data.readings('together').label}, at {told}, and the least that each "
                 f"part needs, modelled for H200 at {DEFAULT_DEVICE.clock_mhz:,.0f} MHz; shared memory with loads and stores")
