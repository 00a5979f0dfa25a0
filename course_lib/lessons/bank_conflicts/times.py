"""What conflicts take: recorded times where only the padding differs, beside the wavefronts that were counted."""

from typing import Any

from course_lib import data
from course_lib.lessons.bank_conflicts.counts import (
    N_PRODUCT,
    N_TIMED,
    each,
    least_us,
    multiplied,
    per_multiply_add,
    recorded_transposition,
    recorded_us,
    transposed,
    wavefronts,
)
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture
from course_lib.widgets.compute import evaluate

TILE, TILE_OF_PRODUCT = 32, 16
PADS = (0, 8, 4, 2, 1)


def recorded_product(PAD: int) -> dict[str, Any]:
    """Return the recorded time and clock of the padded product of 4096 × 4096 matrices, with tiles of 16 × 16."""
    return data.in_turns("sgemm_padded", TILE=TILE_OF_PRODUCT, PAD=PAD)


def product_times() -> Table:
    """Return, by padding, the product's loads from shared memory, the wavefronts of its loads and stores, and the recorded time."""
    rows = []
    for PAD in PADS:
        result = multiplied(TILE_OF_PRODUCT, PAD)
        rows.append((PAD, f"{per_multiply_add(result, 'shared instructions'):g}", f"{wavefronts(result):g}",
                     f"{1e3 * recorded_product(PAD)['median_s']:.1f}"))
    header = ("PAD", "loads per step", "wavefronts per step", "recorded, ms")
    return Table(header, rows, "sgemm_padded, tiles of 16 × 16. A warp's loads from shared memory, and the wavefronts of its loads "
                               "and stores, per step along k: simulated. "
                               f"Times for {N_TIMED} × {N_TIMED}, {data.readings('together').label}, "
                               f"at {data.clocks(map(recorded_product, PADS))}")


def transpositions() -> dict[int, tuple[float, float]]:
    """Return, by padding, the wavefronts of a load from the tile, simulated, and the transposition's recorded µs; most wavefronts first."""
    return {PAD: (each(transposed(TILE, PAD)), recorded_us(PAD)) for PAD in (0, 16, 8, 4, 2, 1)}


@style.styled
def transposition_times() -> Picture:
    """Draw `transpositions` as bars with the least time of their wavefronts marked, and the time of a plain copy as a line."""
    found, copy = transpositions(), data.load("copy").find("copy", N_TIMED)[0]
    names = [f"PAD = {PAD}: {fronts:g} wavefront{'s' * (fronts != 1)}" for PAD, (fronts, _) in found.items()]
    said, least = [f"{time:.1f}" for _, time in found.values()], [least_us(PAD) for PAD in found]
    ax = style.axes(width=9.6, height=4.4)
    drawn = ax.barh(names, [time for _, time in found.values()], color=style.BLUE, height=0.68)
    ax.bar_label(drawn, said, padding=5, fontsize=13)
    for bar, us in zip(drawn, least, strict=True):
        ax.text(us + 0.6, bar.get_y() + bar.get_height() / 2, f"{us:.1f}", fontsize=11, va="center", color=style.text_on(style.BLUE))
    ax.vlines(least, [bar.get_y() for bar in drawn], [bar.get_y() + bar.get_height() for bar in drawn], color=style.YELLOW, linewidth=4,
              label="the least that the wavefronts take")
    ax.axvline(1e6 * copy.seconds, color=style.VERMILION, linestyle="--", label=f"a plain copy, no tile: {1e6 * copy.seconds:.1f}")
    ax.legend(loc="lower right")
    ax.set_title("the padding, and the wavefronts of a load from the tile", loc="left", x=-0.31, fontsize=13)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    note = (f"transpose, tile of 32 × 32, {data.load('padding').label},\n"
            f"{data.spread([copy, *map(recorded_transposition, found)])}")
    ax.set_xlabel(f"µs for a {N_TIMED} × {N_TIMED} matrix\n{note}", fontsize=11)
    ax.tick_params(axis="y", length=0, labelsize=13)
    pairs = "; ".join(f"{name}, {time} µs, its wavefronts at least {us:.1f}"
                      for name, time, us in zip(names, said, least, strict=True))
    return render(ax, f"Bars of recorded times. {pairs}; a plain copy, no tile, {1e6 * copy.seconds:.1f} µs. {note}.".replace("\n", " "))


def product_scoreboard() -> Table:
    """Return the product's wavefronts and recorded times without and with padding, and percent of the library's speed."""
    library = data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds
    tiled = evaluate("sgemm_tiled", N_PRODUCT, dict.fromkeys(("BM", "BN", "BK"), TILE_OF_PRODUCT), backend="sim")
    found = [("sgemm_padded, PAD = 0: as sgemm_coalesced", multiplied(TILE_OF_PRODUCT, 0), recorded_product(0)),
             ("sgemm_padded, PAD = 4", multiplied(TILE_OF_PRODUCT, 4), recorded_product(4)), ("tiled (lesson 04)", tiled, data.tiled())]
    rows = [(name, f"{wavefronts(result):g}", f"{1e3 * row['median_s']:.1f}", f"{library / row['median_s']:.1%}")
            for name, result, row in found]
    rows.append(("NVIDIA's library, cuBLAS", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "a warp's wavefronts per step along k, simulated", "recorded, ms", "speed, % of cuBLAS")
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, {data.readings('together').label}, "
                 f"{data.spread(row for *_, row in found)}; cuBLAS recorded on {data.load('ladder').date}; "
                 f"wavefronts of loads and stores counted for {N_PRODUCT} × {N_PRODUCT}")
