"""Record the rungs from warp tiles to stream-K.

Takes less than a minute: all rungs with the same tiles, in one process and in turn. rungs.json then holds their times for two tiles and
five sizes; stream-K runs with a block for each tile of C, where nothing is shared out, and with the number of blocks that was fastest
otherwise.
"""

import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tools import ToolError
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

SIZES = (512, 1024, 1025, 2048, 4096)
TILES = ({"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32, "TM": 8, "TN": 8},
         {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 64, "TM": 16, "TN": 8})
AHEAD = ({"STAGES": 3, "RESIDENT": 2}, {"STAGES": 4, "RESIDENT": 2})       # beside a tile, for the kernels that copy ahead
BEFORE, LAST = ("sgemm_warp_tile", "sgemm_double_buffered"), "sgemm_stream_k"


def plan(N: int, which: int, multiprocessors: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield (kernel, parameters) of the rungs for a size and a tile, by its number; the last one with every number of blocks to try.

    >>> [(name, p.get("blocks")) for name, p in plan(512, 0, 132)][-6:-1]
    [('sgemm_wide_stores', None), ('sgemm_stream_k', 16), ('sgemm_stream_k', 32), ('sgemm_stream_k', 48), ('sgemm_stream_k', 64)]
    """
    from course_lib.kernels.stages import RUNGS
    from course_lib.model.stream_k import block_counts

    tile = TILES[which]
    yield from ((name, dict(tile)) for name in BEFORE)
    ahead = tile | AHEAD[which] | {"WIDE": 1 if N % 4 else 4}
    yield from ((name, ahead) for name in RUNGS)
    counts = block_counts(N, N, N, (tile["BM"], tile["BN"], tile["BK"]), ahead["RESIDENT"], multiprocessors)
    yield from ((LAST, ahead | {"blocks": blocks}) for blocks in counts)


def measure(N: int, which: int, multiprocessors: int) -> list[dict[str, Any]]:
    """Measure the rungs at a size with a tile; return a row for each."""
    from course_lib.bench.closing import Product
    from course_lib.bench.race import take_turns, trial
    from course_lib.kernels import get

    product = Product(N)
    calls = [(name, given, product.ours(get(name), given)) for name, given in plan(N, which, multiprocessors)]
    tiles = math.prod(-(-N // TILES[which][side]) for side in ("BM", "BN"))
    whole = [call for call in calls if call[1].get("blocks", tiles) == tiles]
    taken = [*whole, min((call for call in calls if call not in whole), key=lambda call: trial(call[2]))]
    turns = take_turns([call for *_, call in taken])
    rows = []
    for (name, given, call), times in zip(taken, zip(*turns, strict=True), strict=True):
        low, median, high = statistics.quantiles(times, n=4)
        rows.append({"kernel": name, "N": N, "tile": which, "parameters": given, "median_s": median, "low_s": low, "high_s": high,
                     "wrong": product.wrong(call)})
    return rows


def line(rows: list[dict[str, Any]]) -> str:
    """Write the rows of one size and tile on a line: TFLOP/s, and of stream-K the number of blocks."""
    return f"{rows[0]['N']:5} tile {rows[0]['tile']}: " + "  ".join(
        f"{row['kernel'].removeprefix('sgemm_')}{'/' + str(row['parameters']['blocks']) if 'blocks' in row['parameters'] else ''} "
        f"{2 * row['N'] ** 3 / row['median_s'] / 1e12:.1f}" + " WRONG" * bool(row["wrong"]) for row in rows)


@click.command()
@out_option("rungs")
def command(out: Path) -> None:
    """Measure all rungs and write the file."""
    from course_lib import gpu
    from course_lib.bench.compiling import compile_texts
    from course_lib.bench.fingerprint import fingerprint_of
    from course_lib.kernels import get
    from course_lib.toolchain import nvrtc_version

    status, multiprocessors = usable_gpu(), gpu.live_device().sms
    pairs = [(N, which) for N in SIZES for which in range(len(TILES))]
    compile_texts((rung for pair in pairs for rung in plan(*pair, multiprocessors)), str(status.arch))
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        rows += (here := measure(*pair, multiprocessors))
        click.echo(line(here))
    sources = {name: fingerprint_of(get(name)) for name in sorted({row["kernel"] for row in rows})}
    made = f"record rungs; NVRTC {'.'.join(map(str, nvrtc_version()))}"
    write_recording(out, "rungs", rows, sources, made, status.name, status.driver)
    if any(row["wrong"] for row in rows):
        raise ToolError("some answers are wrong, see above")
