"""Write docs/img/pipeline.svg: five stages in four buffers.

Which tile lies in which buffer of docs/found/pipeline.cu at each step, as the simulator traced it, with the fault and mended.
"""

from dataclasses import dataclass
from typing import Any

from course_lib import simt
from tools import ROOT, from_tests
from tools.pages import page_command

PAGE = ROOT / "docs" / "img" / "pipeline.svg"
BUFFERS, TILE, STEPS = 4, 512, 5            # TILE in bytes; STEPS are drawn
CELL, HIGH, LEFT, TOP = 118, 44, 78, 62     # pixels
COLOURS = {"copied": ("#e8eef7", "#345"), "read": ("#2166ac", "#fff"), "both": ("#b2182b", "#fff"), "lies": ("#f4f4f4", "#666")}


@dataclass(frozen=True)
class Held:
    """What one buffer holds during a step: the tile that is read, the tile on its way to it, or one that waits to be read."""

    read: int | None = None
    coming: int | None = None
    lies: int | None = None

    @property
    def kind(self) -> str:
        """The name of its colours."""
        if self.read is None:
            return "copied" if self.coming is not None else "lies"
        return "read" if self.coming is None else "both"

    @property
    def words(self) -> list[str]:
        """One or two lines of text."""
        said = [f"{verb} tile {tile}" for verb, tile in (("reads", self.read), ("copies", self.coming)) if tile is not None]
        return said or ["" if self.lies is None else f"tile {self.lies}"]


def rounds(report: Any) -> list[tuple[dict[int, int], set[int]]]:
    """Return, from barrier to barrier, buffer -> the tile that is copied to it, and the buffers that are read."""
    found: list[tuple[dict[int, int], set[int]]] = [({}, set())]
    tile = -1
    for record in report.trace:
        copied, read = found[-1]
        last = int(record.addresses.max())
        if record.operation.startswith("bar"):
            found.append(({}, set()))
        elif record.operation.startswith("cp") and record.space == "global":     # its other half, in shared memory, comes next
            tile = (last - report.arrays[0].address) // TILE
        elif record.operation.startswith("cp"):
            copied[last // TILE] = tile
        elif record.space == "shared":
            read.add(last // TILE)
    return found


def traced(source: str) -> list[list[Held]]:
    """Return for each step what each buffer holds, from the trace of the first warp of a launch."""
    case = from_tests("simt", "found_cases").NAMED["pipeline"]
    grid, block, args = case.launch()
    (lies, _), *steps = rounds(simt.launch(source, case.name, grid, block, args, trace=[(0, 0)], workers=1))
    found = []
    for copied, read in steps[:STEPS]:
        found.append([Held(lies.get(b) if b in read else None, copied.get(b), lies.get(b)) for b in range(BUFFERS)])
        lies |= copied
    return found


def panel(title: str, steps: list[list[Held]], top: int) -> list[str]:
    """Return the drawing of one kernel: a column for each step, a row for each buffer."""
    out = [f'<text x="12" y="{top + 22}" class="title">{title}</text>']
    out += [f'<text x="{LEFT + s * CELL + CELL / 2}" y="{top + 48}" class="head">step {s}</text>' for s in range(len(steps))]
    for b in range(BUFFERS):
        y = top + TOP + b * HIGH
        out.append(f'<text x="12" y="{y + 26}" class="side">buffer {b}</text>')
        for s, held in enumerate(step[b] for step in steps):
            fill, ink = COLOURS[held.kind]
            x, words = LEFT + s * CELL, held.words
            out.append(f'<rect x="{x}" y="{y}" width="{CELL - 4}" height="{HIGH - 4}" rx="4" fill="{fill}"/>')
            for i, line in enumerate(words):
                at = y + HIGH / 2 + 3 + (16 * i - 8 if len(words) > 1 else 0)
                out.append(f'<text x="{x + CELL / 2 - 2}" y="{at}" class="cell" fill="{ink}">{line}</text>')
    return out


def page(_: str = "") -> str:
    """Return the picture, whatever it was before."""
    case: Any = from_tests("simt", "found_cases").NAMED["pipeline"]
    high = TOP + BUFFERS * HIGH + 14
    parts = [f"{how} tiles under way and one being read, in 4 buffers" for how in ("With the fault: 4", "Mended: 3")]
    wide = LEFT + STEPS * CELL + 8
    style = "text{font-family:sans-serif;font-size:13px}.title{font-size:15px;font-weight:bold}.head,.cell{text-anchor:middle}"
    body = [line for i, source in enumerate((case.source, case.mended)) for line in panel(parts[i], traced(source), 6 + i * high)]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {2 * high + 6}" role="img">',
                      "<title>Which tile each of four buffers holds at each step</title>", f"<style>{style}</style>",
                      f'<rect width="{wide}" height="{2 * high + 6}" fill="#fff"/>', *body, "</svg>", ""])


command = page_command(PAGE, page)
