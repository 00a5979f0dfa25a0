"""Write docs/race.md: ratios to cuBLAS, rungs, choices.

Only the tables are written; the rest of the page stays as it is.
"""

import itertools
import math
from difflib import SequenceMatcher
from statistics import geometric_mean
from typing import Any

from course_lib.bench.choices import judge
from course_lib.bench.fingerprint import code_only
from course_lib.bench.race import groups, mean
from course_lib.data import readings
from course_lib.kernels import get
from tools import ROOT
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "race.md"
TABLES = Part("<!-- written by python -m tools page race -->", "<!-- end of tables -->")
RUNGS = Part("<!-- rungs written by python -m tools page race -->", "<!-- end of rungs -->")
WARPGROUPS = Part("<!-- warpgroups written by python -m tools page race -->", "<!-- end of warpgroups -->")
CHOICES = Part("<!-- choices written by python -m tools page race -->", "<!-- end of choices -->")


def page(text: str) -> str:
    """Return the page's text with the tables written anew."""
    text = WARPGROUPS.renewed(TABLES.renewed(text, raced()), of_warpgroups())
    return CHOICES.renewed(RUNGS.renewed(text, climbed()), chosen())


def of_warpgroups() -> str:
    """Return the table on the race by warpgroups: medians of all runs, the least and the largest ratio of a run, the largest errors."""
    found = readings("warpgroups")
    runs = ", ".join(f"{run['date']} on {run['device']}" for run in found.rows[0]["runs"])
    lines = [f"{found.label[0].upper()}{found.label[1:]}, driver {found.driver}; {found.made_by}. Runs: {runs}.", "",
             "| N | kernel | ratio (of all runs) | ours, TFLOP/s | cuBLAS | largest error: ours | cuBLAS |",
             "|--:|---|--:|--:|--:|--:|--:|"]
    for row in sorted(found.rows, key=lambda row: (row["dtype"], row["N"])):
        work = 2e-12 * row["M"] * row["N"] * row["K"]
        ratio = f"{row['ratio']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        lines.append(f"| {row['N']} | `{row['kernel']}` | {ratio} | {work / row['ours']:.1f} | {work / row['library']:.1f} | "
                     f"{row['error']:.1e} | {row['library_error']:.1e} |")
    return "\n".join(lines)


def chosen() -> str:
    """Return the tables on products that the table of choices was not made from."""
    tried, table = readings("tried"), readings("choices")
    found = judge(tried, table)
    lines = [f"{tried.label[0].upper()}{tried.label[1:]}, driver {tried.driver}; {tried.made_by}.", "",
             "| element type | products held out | best over chosen: geometric mean | least | cuBLAS over chosen: geometric mean | least |",
             "|---|--:|--:|--:|--:|--:|"]
    for dtype in ("float32", "float64"):
        ratios, library = ([row[name] for row in found if row["dtype"] == dtype] for name in ("ratio", "to_library"))
        lines.append(f"| {dtype} | {len(ratios)} | {geometric_mean(ratios):.3f} | {min(ratios):.3f} | {geometric_mean(library):.3f} | "
                     f"{min(library):.3f} |")
    lines += ["", "| M × N × K | op(A) op(B) | float32: chosen, µs | best | cuBLAS | float64: chosen | best | cuBLAS |",
              "|---|---|--:|--:|--:|--:|--:|--:|"]
    of_type = {dtype: [row for row in found if row["dtype"] == dtype] for dtype in ("float32", "float64")}
    for rows in zip(*of_type.values(), strict=True):
        cells = [f"{1e6 * time:.1f}" for row in rows for time in (row["chosen"][2], row["best"][2], row["to_library"] * row["chosen"][2])]
        operands = "".join(letter + "ᵀ" * rows[0][name] for letter, name in (("A", "TRANSA"), ("B", "TRANSB")))
        lines.append(f"| {' × '.join(str(rows[0][n]) for n in 'MNK')} | {operands} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def raced() -> str:
    """Return the tables on the race."""
    found = readings("race")
    lines = [f"{found.label[0].upper()}{found.label[1:]}, driver {found.driver}; {found.made_by}.", "",
             "| products | how many | geometric mean of the ratios | least | at |", "|---|--:|--:|--:|---|"]
    for name, rows in groups(found.rows).items():
        worst = min(rows, key=lambda row: row["ratio"])
        lines.append(f"| {name} | {len(rows)} | {mean(rows):.3f} | {worst['ratio']:.3f} | {worst['M']} × {worst['N']} × {worst['K']} |")
    squares = {(row["dtype"], row["N"]): row for row in groups(found.rows)["float32 squares"] + groups(found.rows)["float64 squares"]}
    lines += ["", "| N | float32: ours, TFLOP/s | cuBLAS | ratio | float64: ours | cuBLAS | ratio |", "|--:|--:|--:|--:|--:|--:|--:|"]
    for N in sorted({size for _, size in squares}):
        cells = [f"{speed:.1f}" if speed > 2 else f"{speed:.3f}" for dtype in ("float32", "float64")
                 for speed in (*(2e-12 * N**3 / squares[dtype, N][name] for name in ("ours", "library")), squares[dtype, N]["ratio"])]
        lines.append(f"| {N} | " + " | ".join(cells) + " |")
    others = [row for row in found.rows if not row["M"] == row["N"] == row["K"] and row["dtype"] == "float32"]
    double = {(row["M"], row["N"], row["K"]): row["ratio"] for row in found.rows if row["dtype"] == "float64"}
    lines += ["", "| M × N × K | float32: ratio | float64: ratio |", "|---|--:|--:|"]
    for row in others:
        sizes = row["M"], row["N"], row["K"]
        lines.append(f"| {' × '.join(map(str, sizes))} | {row['ratio']:.3f} | {double[sizes]:.3f} |")
    return "\n".join(lines)


def changed(before: str, name: str) -> str:
    """Return how many lines of code a kernel's file has that the file before has not, and how many are gone, as "+4 −1"."""
    old, new = (code_only(get(each).path.read_text(encoding="utf-8")).replace(each, "").splitlines() for each in (before, name))
    same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return f"+{len(new) - same} −{len(old) - same}"


def climbed() -> str:
    """Return a table for each tile that the rungs to stream-K were measured with."""
    found = readings("rungs")
    lines = [f"{found.label[0].upper()}{found.label[1:]}, driver {found.driver}; {found.made_by}."]
    for which in sorted({row["tile"] for row in found.rows}):
        rows = found.find(tile=which)
        sizes, p = sorted({row["N"] for row in rows}), rows[0]["parameters"]
        lines += ["", f"Tiles of {p['BM']} × {p['BN']} × {p['BK']}, {p['TM']} × {p['TN']} elements of C per thread; TFLOP/s, and in "
                  "brackets how many times the speed of the line above:", "",
                  "| kernel | lines of code | " + " | ".join(f"N = {N}" for N in sizes) + " |", "|---|---|" + "--:|" * len(sizes)]
        columns = [_column([row for row in rows if row["N"] == N]) for N in sizes]
        for i, (label, lines_changed) in enumerate(_labels([row["kernel"] for row in rows if row["N"] == sizes[-1]])):
            lines.append(f"| {label} | {lines_changed} | " + " | ".join(column[i] for column in columns) + " |")
    return "\n".join(lines)


def _labels(names: list[str]) -> list[tuple[str, str]]:
    """Return what stands at the left of each line: the kernel, and what its file changes. The last kernel has two lines."""
    labels = [(f"`{name}`", changed(before, name) if before else "") for before, name in zip(["", *names], names[:-1], strict=False)]
    return [*labels[:-1], (f"{labels[-1][0]}, a block for each tile", labels[-1][1]), (f"{labels[-1][0]}, steps shared out", "")]


def _column(rows: list[dict[str, Any]]) -> list[str]:
    """Return a size's cells; of the last kernel's rows that with a block for each tile comes first."""
    p = rows[0]["parameters"]
    tiles = math.prod(-(-rows[0]["N"] // p[side]) for side in ("BM", "BN"))
    rows = sorted(rows, key=lambda row: row["parameters"].get("blocks", tiles) != tiles)
    speeds = [2e-12 * row["N"] ** 3 / row["median_s"] for row in rows]
    return [f"{speeds[0]:.1f}", *(f"{now:.1f} ({now / before:.2f})" for before, now in itertools.pairwise(speeds))]


command = page_command(PAGE, page)
