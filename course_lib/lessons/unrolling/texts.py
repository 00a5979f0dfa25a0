"""One line of the kernel three times: CUDA C, PTX and SASS, as the compiler links them."""

import re
from dataclasses import dataclass

from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.lessons.unrolling.counts import KERNEL, TILE
from course_lib.plots import LinkedCode, Table, linked_code, render, style
from course_lib.plots.picture import Picture

LINE = "acc += As[ty][k] * Bs[k][tx];"
TITLES = ("CUDA C: what you write", "PTX: for an imaginary GPU", "SASS: what a GPU executes")
ARROWS = ("compiler", "assembler")
ALT = ("Three boxes from left to right. CUDA C, what you write: the line acc += As[ty][k] * Bs[k][tx]. An arrow, the compiler, leads to "
       "PTX, for an imaginary GPU: two loads, ld.shared, and a multiply-add, fma. An arrow, the assembler, leads to SASS, what a GPU "
       "executes: two loads, LDS, and a multiply-add, FFMA.")


def of_line(code: LinkedCode) -> tuple[list[str], list[str]]:
    """Return the PTX and the SASS that became of the line of the multiply-add."""
    line = next(n for n, text in enumerate(code.source, 1) if LINE in text)
    ptx, sass = ([" ".join(c.text.split()) for c in lines if c.line == line] for lines in (code.ptx, code.sass))
    return ptx, sass


@style.styled
def three_texts() -> Picture:
    """Draw the line of the multiply-add, and what the compiler and the assembler make of it when nothing is unrolled."""
    ptx, sass = of_line(linked_code(KERNEL, TILE=TILE, UNROLL=1))
    ax = style.axes(width=10.4, height=2.4)
    boxes = ((0.0, 2.6, TITLES[0], ["acc += As[ty][k]", "     * Bs[k][tx];"]), (3.75, 4.3, TITLES[1], ptx), (9.2, 3.1, TITLES[2], sass))
    for x, wide, title, lines in boxes:
        ax.add_patch(Rectangle((x, 0), wide, 2, facecolor="none", edgecolor=style.GREY, linewidth=1.6))
        ax.text(x, 2.15, title, fontsize=12.5, weight="bold", va="bottom")
        for i, text in enumerate(lines):
            ax.text(x + 0.12, 1.55 - 0.5 * i, text, fontsize=11.5, family="DejaVu Sans Mono", va="center")
    for x, name in ((2.65, ARROWS[0]), (8.1, ARROWS[1])):
        ax.add_patch(FancyArrowPatch((x, 1), (x + 1.05, 1), arrowstyle="-|>", mutation_scale=20, linewidth=2.2, color=style.GREY))
        ax.text(x + 0.52, 0.7, name, fontsize=10.5, ha="center", va="top")
    ax.set(xlim=(-0.05, 12.35), ylim=(-0.1, 2.6))
    ax.axis("off")
    return render(ax, ALT)


@dataclass(frozen=True)
class SharedLoad:
    """A load from shared memory: its text, its base register, the offset in bytes, and how many words it brings."""

    text: str
    base: str
    offset: int
    words: int


def shared_load(text: str) -> SharedLoad:
    """Read an `ld.shared` of PTX, whose offset is decimal, or an `LDS` of SASS, whose offset is hexadecimal.

    >>> shared_load("LDS.64 R4, [R18+-0x8]").offset, shared_load("ld.shared.f32 %f18, [%r45+-8];").offset
    (-8, -8)
    """
    address = re.search(r"\[([^+\]]+)(?:\+([^\]]+))?\]", text)
    if address is None:
        raise ValueError(f"no load from shared memory: {text}")
    base, offset = address.groups()
    bits = re.match(r"LDS\.(64|128)", text)
    return SharedLoad(text, base, int(offset or "0", 0), int(bits[1]) // 32 if bits else 1)


def by_array(lines: list[str]) -> dict[str, list[SharedLoad]]:
    """Return the loads of `As`, whose words are neighbours, and of `Bs`, whose words are a row apart; each by its offsets."""
    loads = [shared_load(text) for text in lines if not text.lower().startswith(("fma", "ffma"))]
    bases: dict[str, list[SharedLoad]] = {load.base: [] for load in loads}
    for load in sorted(loads, key=lambda load: load.offset):
        bases[load.base].append(load)
    near, far = sorted(bases.values(), key=lambda found: found[-1].offset - found[0].offset)
    return {"As": near, "Bs": far}


def two_texts(factor: int = 4) -> Table:
    """Return a table of the loads and multiply-adds of the line: each of PTX, and beside it what it became in SASS."""
    ptx, sass = of_line(linked_code(KERNEL, TILE=TILE, UNROLL=factor))
    before, after, rows = by_array(ptx), by_array(sass), []
    for array, index in (("As", "[ty][k{}]"), ("Bs", "[k{}][tx]")):
        for k, load in enumerate(before[array]):
            found = next(new for new in after[array] if new.offset <= load.offset < new.offset + 4 * new.words)
            became = found.text if found.offset == load.offset else "  (comes with the line above)"
            rows.append((array + index.format(f" + {k}" if k else ""), load.text, became))
    adds = [[text for text in lines if text.lower().startswith(("fma", "ffma"))] for lines in (ptx, sass)]
    rows += [("multiply-add", *both) for both in zip(*adds, strict=True)]
    caption = f"Line 34 of {KERNEL} with UNROLL = {factor}: {len(ptx)} instructions of PTX, {len(sass)} of SASS"
    return Table(("what for", "PTX", "SASS"), rows, caption, mono=(0, 1, 2))
