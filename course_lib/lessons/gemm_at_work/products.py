"""The products of a training step, drawn to one scale: which operand is transposed, and how its rows lie in memory."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.plots import style
from course_lib.training import Gemm

COLOURS = {"X": style.SKY, "W1": style.ORANGE, "W2": style.ORANGE, "H": style.GREEN, "Y": style.GREEN, "G": style.VERMILION,
           "D": style.VERMILION}
KINDS = (("pictures", style.SKY), ("weights", style.ORANGE), ("forward", style.GREEN), ("gradients", style.VERMILION))
STRIPES, THIN = 8, 0.05  # of the longest side; what is thinner has no stripes
COLUMNS = (2, 3)        # products forward, and backward


@style.styled
def product_boxes(gemms: Sequence[Gemm], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw each product as op(A) × op(B) = C; stripes are rows as they lie in memory, so a transposed operand's stand upright.

    Parameters
    ----------
    gemms
        The five products of a step, from `training.gemms`.

    Returns
    -------
    Axes
        Its patches are boxes, three a product, in the order op(A), op(B), and C or, of an update, the gradient.
    """
    ax = style.axes(ax, width=12.0, height=7.0)
    longest = max(max(g.M, g.N, g.K) for g in gemms)
    gap, head = 0.28 * longest, 0.52 * longest
    x = lowest = 0.0
    for first, count in ((0, COLUMNS[0]), (COLUMNS[0], COLUMNS[1])):
        y, widest = 0.0, 0.0
        for g in gemms[first:first + count]:
            widest = max(widest, _product(ax, g, x, y + head, gap, longest))
            y += head + max(g.M, g.K)
        lowest, x = max(lowest, y), x + widest + 2.2 * gap
    _key(ax, lowest + 0.3 * longest, gap)
    ax.set(xlim=(-0.04 * longest, x - 0.6 * gap), ylim=(lowest + 0.5 * longest, 0.0), aspect="equal")
    ax.set_title(title or "")
    ax.axis("off")
    return ax


def _product(ax, g, x, y, gap, longest):
    """Draw one product with its boxes' upper edges at y; return its width."""
    p = g.product
    ax.text(x, y - 0.3 * longest, f"{p.letters}   {p.text}", fontsize=14, weight="bold", va="bottom")
    ax.text(x, y - 0.27 * longest, f"M, N, K = {g.M}, {g.N}, {g.K}", fontsize=12, va="top")
    at = x
    made = (f"gradient of {p.result}", style.VERMILION) if p.updates else (p.result, COLOURS[p.result])
    operands = ((name + "ᵀ" * turned, COLOURS[name]) for name, turned in zip((p.A, p.B), p.transposed, strict=True))
    boxes = zip((*operands, made), (*p.transposed, False), ((g.M, g.K), (g.K, g.N), (g.M, g.N)), strict=True)
    for place, ((name, colour), turned, (rows, cols)) in enumerate(boxes):
        _box(ax, name, colour, turned, rows, cols, at, y, longest)
        at += cols + gap
        if place < 2:
            ax.text(at - gap / 2, y + min(g.M, g.K, 64) / 2, ("×", "=")[place], fontsize=16, ha="center", va="center")
    return at - gap - x


def _box(ax, name, colour, turned, rows, cols, x, y, longest):
    """Draw one matrix, `rows` × `cols` as the product sees it."""
    ax.add_patch(Rectangle((x, y), cols, rows, facecolor=colour, edgecolor=style.INK, linewidth=1.5, alpha=0.85))
    side = cols if turned else rows
    count = max(round(side / (longest / STRIPES / 1.6)), 2 if side > THIN * longest else 1)
    for i in range(1, count):
        if turned:
            ax.plot([x + i * cols / count] * 2, [y, y + rows], color="white", linewidth=1.6, solid_capstyle="butt")
        else:
            ax.plot([x, x + cols], [y + i * rows / count] * 2, color="white", linewidth=1.6, solid_capstyle="butt")
    ax.text(x, y - 0.03 * longest, name, fontsize=12, va="bottom")


def _key(ax, y, gap):
    ax.text(0, y, "stripes: rows in memory", fontsize=12, va="center")
    for place, (text, colour) in enumerate(KINDS):
        ax.text((7 + 3.1 * place) * gap, y, f"■ {text}", fontsize=12, color=colour, va="center", weight="bold")


def describe_products(gemms: Sequence[Gemm]) -> str:
    """Return the alternative text of `product_boxes`."""
    return ("Five products drawn to one scale, a turned operand with upright stripes: "
            + "; ".join(f"{g.product.text} ({g.product.letters}; M, N, K = {g.M}, {g.N}, {g.K})" for g in gemms) + ".")
