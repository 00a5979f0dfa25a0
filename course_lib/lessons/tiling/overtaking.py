"""What a missing barrier allows: two warps between two barriers, from the trace of the running kernel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.patches import FancyArrowPatch

from course_lib.errors import CourseError
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import run
from course_lib.run.traces import is_barrier, is_load, name_of

T, WARPS = 16, (0, 1)
WORD = 4                                # bytes


@dataclass(frozen=True)
class Overtaken:
    """What two warps did between the first barrier and the next one.

    `events`: (warp, "reads", "writes" or "loads") in the order in which the simulator did them; "loads" is from global memory. `write`,
    `read`: places in `events` of the first write of warp 0 to a word that warp 1 reads afterwards. `word`: which, such as "word 0 of Bs".
    """

    events: tuple[tuple[int, str], ...]
    write: int
    read: int
    word: str


def overtaken(text: str) -> Overtaken:
    """Run a kernel with blocks of 16 × 16 threads on matrices of 32 × 32, and find where warp 0 overwrites what warp 1 still has to read.

    Raises
    ------
    CourseError
        When it does not: the kernel has its barrier, or it stores nothing into shared memory.
    """
    A = np.zeros((2 * T, 2 * T), dtype=np.float32)
    result = run(text, A, A, bx=T, by=T, backend="sim", trace=[((0, 0, 0), warp) for warp in WARPS])
    records = [record for record in _between(result.trace) if not is_barrier(record)]
    events = tuple((r.warp, "loads" if r.space == "global" else "reads" if is_load(r) else "writes") for r in records)
    for write, (record, event) in enumerate(zip(records, events, strict=True)):
        if event != (0, "writes"):
            continue
        for read in range(write + 1, len(records)):
            both = np.intersect1d(record.addresses, records[read].addresses)
            if events[read] == (1, "reads") and name_of(result, records[read]) == name_of(result, record) and len(both):
                name = name_of(result, record)
                start = next(v.offset for v in result.shared if v.name.endswith(name))
                return Overtaken(events, write, read, f"word {(int(both[0]) - start) // WORD} of {name}")
    raise CourseError("here warp 0 overwrites nothing that warp 1 still has to read: is the second barrier still in the kernel?")


def _between(trace: Any) -> list[Any]:
    """Return the accesses and barriers of each warp from its first barrier up to its second."""
    passed, found = dict.fromkeys(WARPS, 0), []
    for record in trace:
        if is_barrier(record):
            passed[record.warp] += 1
        elif record.space is not None and passed[record.warp] == 1:
            found.append(record)
    return found


@style.styled
def overtaking(text: str) -> Picture:
    """Draw both warps between two barriers, and the write that comes before the read."""
    found = overtaken(text)
    ax = style.axes(width=9.0, height=3.4)
    colours = {"reads": style.GREEN, "writes": style.VERMILION, "loads": style.BLUE}
    for place, (warp, does) in enumerate(found.events):
        ax.barh(warp, 0.86, left=place + 0.07, height=0.5, color=colours[does])
    end = len(found.events)
    for x, words in ((-0.6, "first barrier"), (end + 0.6, "next barrier")):
        ax.plot([x, x], [-0.6, 1.6], color=style.ORANGE, linewidth=5, solid_capstyle="butt")
        ax.text(x, -0.72, words, ha="left" if x < 0 else "right", va="bottom", fontsize=12)
    ends = (found.write + 0.5, 0.28), (found.read + 0.5, 0.72)
    ax.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=18, linewidth=2, color=style.INK))
    done = found.events.index((0, "loads"))
    ax.plot([done, done], [-0.42, 0.27], color=style.ORANGE, linewidth=3, linestyle=(0, (1, 1)))
    ax.text(done, -0.47, "here the second barrier is missing", ha="center", va="bottom", fontsize=12)
    ax.text(found.write - 0.6, 0.5, f"overwrites {found.word},\nwhich warp 1 reads only now", ha="right", va="center", fontsize=12)
    for does, words in (("reads", "reads shared memory"), ("loads", "loads the next tile"), ("writes", "stores it in shared memory")):
        ax.barh(0, 0, color=colours[does], label=words)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)
    ax.set(yticks=WARPS, yticklabels=[f"warp {w}" for w in WARPS], ylim=(1.7, -1.15), xlim=(-1, end + 1), xticks=[])
    ax.set_xlabel("accesses of these two warps, in the simulator's order")
    ax.xaxis.set_label_coords(0.5, -0.02)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    first = sum(warp == 0 for warp, _ in found.events[:found.read])
    alt = (f"Two rows, for warp 0 and warp 1, between two barriers. Warp 0 does {first} accesses first: it reads the tiles, and as the "
           f"second barrier is missing, it loads the next ones and stores them in shared memory, {found.word} among them. Only then does "
           f"warp 1 read {found.word}, for the tile before.")
    return render(ax, alt)
