"""What conflicts take: recorded times beside the least time that the wavefronts alone need, where only the padding differs."""

from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.lessons.bank_conflicts.counts import (
    N,
    each,
    multiplied,
    per_multiply_add,
    recorded_transposition,
    transposed,
)
from course_lib.plots import Picture, Table, render, style

N_TIMED, N_PROFILED, TILE, TILE_OF_PRODUCT = 4096, 1024, 32, 16
PADS = (0, 8, 4, 2, 1)


def recorded_product(PAD: int) -> dict[str, Any]:
    """Return the recorded time and clock of the padded product of 4096 × 4096 matrices, with tiles of 16 × 16."""
    return data.in_turns("sgemm_padded", TILE=TILE_OF_PRODUCT, PAD=PAD)


def product_clocks() -> str:
    """Say at which clock the padded products were recorded."""
    return data.clocks(map(recorded_product, PADS))


def product_fronts(PAD: int) -> float:
    """Return the wavefronts of the padded product for each multiply-add of a warp, of all accesses to shared memory."""
    return sum(per_multiply_add(multiplied(TILE_OF_PRODUCT, PAD), kind=kind) for kind in ("load", "store"))


def product_wavefronts(PAD: int) -> float:
    """Return the seconds that the product's wavefronts need, modelled."""
    return one_per_cycle(product_fronts(PAD) * N_TIMED ** 3 / WARP)


def one_per_cycle(fronts: float) -> float:
    """Return the seconds that wavefronts need at one per cycle, spread evenly over all multiprocessors."""
    return fronts / (DEFAULT_DEVICE.sms * 1e6 * DEFAULT_DEVICE.clock_mhz)


@style.styled
def product_bars() -> Picture:
    """Draw the recorded time of the product by padding: the time of its wavefronts, and behind it the rest."""
    ax, rows_at = style.axes(width=9.0, height=3.9), range(len(PADS))
    least, taken = ([1e3 * seconds(PAD) for PAD in PADS] for seconds in (product_wavefronts, lambda PAD: recorded_product(PAD)["median_s"]))
    rest = [whole - part for whole, part in zip(taken, least, strict=True)]
    ax.barh(rows_at, least, color=style.BLUE, height=0.68, label="the wavefronts, one per cycle, modelled")
    ax.barh(rows_at, rest, left=least, color=style.VERMILION, height=0.68, label="the rest of the recorded time")
    for place, whole, part in zip(rows_at, taken, rest, strict=True):
        ax.text(whole + 0.3, place, f"{whole:.1f} ms, orange: {part:.1f}", va="center", fontsize=13)
    ax.set_yticks(rows_at, [f"PAD = {PAD}" for PAD in PADS], fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1.3 * max(taken)), xlabel=f"ms, {data.readings('together').label}")
    ax.set_title(f"N = {N_TIMED}, tiles of 16 × 16, at {product_clocks()}", pad=34)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    bars = zip(PADS, taken, least, rest, strict=True)
    said = "; ".join(f"PAD = {PAD}: {whole:.1f}, {part:.1f} and {more:.1f}" for PAD, whole, part, more in bars)
    return render(ax, f"A bar for each padding: the recorded time in ms, its wavefronts' part and the rest. {said}.")


def product_times() -> Table:
    """Return, by padding, the product's loads and wavefronts, the time that these need at one per cycle, and the recorded time."""
    rows = []
    for PAD in PADS:
        result, least, taken = multiplied(TILE_OF_PRODUCT, PAD), product_wavefronts(PAD), recorded_product(PAD)["median_s"]
        rows.append((PAD, f"{per_multiply_add(result, 'shared instructions'):g}", f"{per_multiply_add(result):g}",
                     f"{product_fronts(PAD):.2f}", *(f"{1e3 * seconds:.1f}" for seconds in (least, taken, taken - least))))
    header = ("PAD", "loads", "their wavefronts", "all wavefronts", "their time, modelled, ms", "recorded, ms", "rest, ms")
    return Table(header, rows, "sgemm_padded, tiles of 16 × 16. Loads and wavefronts per multiply-add of a warp, simulated. "
                               f"Times for {N_TIMED} × {N_TIMED}, {data.readings('together').label}, at {product_clocks()}")


def product_counted() -> Table:
    """Return the product's wavefronts as the simulator counts them, beside those that the hardware's own counters gave."""
    rows, found = [], data.readings("coalescing")
    for name, variant, PAD in (("PAD = 0", "along, transposed", 0), ("PAD = 1", "along, transposed, padded", 1)):
        row, = found.find(what="count", variant=variant, TILE=TILE_OF_PRODUCT, N=N_PROFILED)
        result, each = multiplied(TILE_OF_PRODUCT, PAD), N_PROFILED ** 3 / WARP
        cells = ((per_multiply_add(result, kind=kind), row[f"shared_{kind}_wavefronts"] / each) for kind in ("load", "store"))
        rows.append((name, *(f"{cell:.3f}" for pair in cells for cell in pair)))
    header = ("", "loads, simulated", "loads, hardware", "stores, simulated", "stores, hardware")
    return Table(header, rows, "Wavefronts per multiply-add of a warp, tiles of 16 × 16. "
                               f"Hardware: Nsight Compute, N = {N_PROFILED}, {found.label}")


def wavefronts_alone(PAD: int) -> float:
    """Return the seconds that a transposition's wavefronts need, modelled."""
    result = transposed(TILE, PAD)
    return one_per_cycle(sum(result.count("wavefronts", kind) for kind in ("load", "store")) * (N_TIMED / N) ** 2)


def transposition_times() -> Table:
    """Return, by padding, the transposition's wavefronts, their time, the recorded time and the rest, beside kernels without a tile."""
    padded, find = {PAD: recorded_transposition(TILE, PAD) for PAD in (0, 16, 8, 4, 2, 1)}, data.load("padding").find
    plain = {side: find("transpose_plain", N_TIMED, parameters={"TILE": side, "ROWS": 8})[0] for side in (32, 16)}
    rows = [(f"no tile, blocks of {side}\u00a0×\u00a08", "", "", f"{1e6 * found.seconds:.1f}", "") for side, found in plain.items()]
    for PAD, found in padded.items():
        fronts, least = sum(each(transposed(TILE, PAD), kind) for kind in ("load", "store")), wavefronts_alone(PAD)
        modelled, recorded, rest = (f"{1e6 * seconds:.1f}" for seconds in (least, found.seconds, found.seconds - least))
        rows.append((f"PAD = {PAD}", f"{fronts:g}", modelled, recorded, rest))
    copy = data.load("copy").find("copy", N_TIMED)[0]
    rows.append(("a plain copy, no tile", "", "", f"{1e6 * copy.seconds:.1f}", ""))
    header = ("", "wavefronts per 32 elements", "their time, modelled, µs", "recorded, µs", "rest, µs")
    low, median, high = (vars(plain[32])[name] for name in ("low_s", "median_s", "high_s"))
    return Table(header, rows, f"transpose, tile of 32 × 32, {N_TIMED} × {N_TIMED} matrix: {data.load('padding').label}, "
                               f"{data.spread([copy, plain[16], *padded.values()])}; "
                               f"in the first row within {max(high - median, median - low) / median:.1%}")


def product_scoreboard() -> Table:
    """Return the recorded times of the product without and with padding, and percent of the library's speed."""
    library, side = data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds, TILE_OF_PRODUCT
    found = [("coalesced (lesson 05), which is PAD = 0", recorded_product(0)), ("padded, PAD = 4", recorded_product(4)),
             ("padded, PAD = 1", recorded_product(1)), ("tiled (lesson 04)", data.in_turns("sgemm_tiled", BM=side, BN=side, BK=side))]
    rows = [(name, f"{1e3 * row['median_s']:.1f}", f"{library / row['median_s']:.1%}") for name, row in found]
    rows.append(("NVIDIA's library, cuBLAS", f"{1e3 * library:.1f}", "100.0%"))
    return Table(("kernel", "recorded, ms", "speed, % of cuBLAS"), rows, f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, "
                 f"{data.readings('together').label}, {data.spread(row for _, row in found)}, "
                 f"to {data.clocks(row for _, row in found)}; cuBLAS recorded on {data.load('ladder').date}")
