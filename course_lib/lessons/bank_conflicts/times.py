"""What conflicts take: recorded times beside the least time that the wavefronts alone need, where only the padding differs."""

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.data import Record
from course_lib.lessons.bank_conflicts.counts import N, each, multiplied, per_multiply_add, recorded, transposed
from course_lib.plots import Picture, Table, render, style
from course_lib.widgets.compute import evaluate

N_TIMED, TILE, TILE_OF_PRODUCT = 4096, 32, 16
PADS = (0, 8, 4, 2, 1)


def product(PAD: int) -> Record:
    """Return the recorded time of the padded product of 4096 × 4096 matrices, with tiles of 16 × 16."""
    record, = data.load("padding").find("sgemm_padded", N_TIMED, parameters={"TILE": TILE_OF_PRODUCT, "PAD": PAD})
    return record


def product_fronts(PAD: int) -> float:
    """Return the wavefronts of all accesses to shared memory for each multiply-add of a warp."""
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
    ax, places = style.axes(width=9.0, height=3.9), range(len(PADS))
    least, taken = ([1e3 * seconds(PAD) for PAD in PADS] for seconds in (product_wavefronts, lambda PAD: product(PAD).median_s))
    rest = [whole - part for whole, part in zip(taken, least, strict=True)]
    ax.barh(places, least, color=style.BLUE, height=0.68, label="the wavefronts, one per cycle, modelled")
    ax.barh(places, rest, left=least, color=style.ORANGE, height=0.68, label="the rest of the recorded time")
    for place, whole, part in zip(places, taken, rest, strict=True):
        ax.text(whole + 0.3, place, f"+ {part:.1f}", va="center", fontsize=13, weight="bold")
    ax.set_yticks(places, [f"PAD = {PAD}" for PAD in PADS], fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1.08 * max(taken)), xlabel=f"ms, N = {N_TIMED}, tiles of 16 × 16, {data.load('padding').label}")
    ax.legend(loc="lower right")
    bars = zip(PADS, taken, least, rest, strict=True)
    said = "; ".join(f"PAD = {PAD}: {whole:.1f} = {part:.1f} + {more:.1f}" for PAD, whole, part, more in bars)
    return render(ax, f"A bar for each padding: the recorded time in ms, its wavefronts' part and the rest. {said}.")


def product_times() -> Table:
    """Return, by padding, the product's wavefronts, the time that they need at one per cycle, and the recorded time."""
    rows = []
    for PAD in PADS:
        least, taken = product_wavefronts(PAD), product(PAD).median_s
        rows.append((PAD, f"{product_fronts(PAD):.2f}", *(f"{1e3 * seconds:.1f}" for seconds in (least, taken, taken - least))))
    header = ("PAD", "wavefronts per multiply-add of a warp", "their time, modelled, ms", "recorded, ms", "difference, ms")
    return Table(header, rows, f"sgemm_padded, tiles of 16 × 16, {N_TIMED} × {N_TIMED} matrices: {data.load('padding').label}")


def wavefronts_alone(PAD: int) -> float:
    """Return the seconds that a transposition's wavefronts need, modelled."""
    result = transposed(TILE, PAD)
    return one_per_cycle(sum(result.count("wavefronts", kind) for kind in ("load", "store")) * (N_TIMED / N) ** 2)


def transposition_times() -> Table:
    """Return, by padding, the transposition's wavefronts, the time that they need, and the recorded time, beside a plain copy's."""
    rows = []
    for PAD in (0, 16, 8, 4, 2, 1):
        fronts = sum(each(transposed(TILE, PAD), kind) for kind in ("load", "store"))
        rows.append((f"PAD = {PAD}", f"{fronts:g}", f"{1e6 * wavefronts_alone(PAD):.0f}", f"{1e6 * recorded(TILE, PAD).median_s:.1f}"))
    copy = data.load("copy").find("copy", N_TIMED)[0]
    rows.append(("a plain copy, no tile", "", "", f"{1e6 * copy.median_s:.1f}"))
    header = ("", "wavefronts per 32 elements", "their time, modelled, µs", "recorded, µs")
    return Table(header, rows, f"transpose, tile of 32 × 32, {N_TIMED} × {N_TIMED} matrix: {data.load('padding').label}")


def product_scoreboard() -> Table:
    """Return the ladder so far: wavefronts per multiply-add of a warp, time, and speed in percent of the library's."""
    library = data.load("ladder").find("cuBLAS", N_TIMED)[0].median_s
    rungs = (("tiled (lesson 04)", "sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16}, "lee"),
             ("uncoalesced (lesson 05)", "sgemm_uncoalesced", {"TILE": 16}, "ladder"),
             ("coalesced (lesson 05)", "sgemm_coalesced", {"TILE": 16}, "lee"),
             ("padded, PAD = 1", "sgemm_padded", {"TILE": 16, "PAD": 1}, "lee"))
    rows = []
    for name, kernel, parameters, recordings in rungs:
        result = evaluate(kernel, 128, parameters, backend="sim")
        taken = data.load(recordings).find(kernel, N_TIMED, parameters=parameters)[0].median_s
        fronts = sum(per_multiply_add(result, kind=kind) for kind in ("load", "store"))
        rows.append((name, f"{fronts:.2f}", f"{1e3 * taken:.1f}", f"{library / taken:.1%}"))
    rows.append(("NVIDIA's library, cuBLAS", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "shared wavefronts per multiply-add of a warp", "ms", "speed, % of cuBLAS")
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, times {data.load('lee').label}; wavefronts simulated")
