"""Write docs/microbenchmarks.md: latencies.

Chien's Tables 2 and 3, and latencies, as an H200 recorded them.

Only the tables are written; the rest of the page stays as it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from course_lib.data import readings
from course_lib.data.readings import Readings
from tools import ROOT
from tools.gpu.operands import row_of
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "microbenchmarks.md"
TABLES = Part("<!-- written by python -m tools page microbenchmarks -->", "<!-- end of tables -->")
KIB, MIB = 1024, 1024 * 1024


def size(n: int) -> str:
    """Write bytes with a unit.

    >>> size(4096), size(2**28)
    ('4 KiB', '256 MiB')
    """
    return f"{n // MIB} MiB" if n >= MIB else f"{n // KIB} KiB"


def by_threads(rows: Sequence[dict[str, Any]]) -> str:
    """Return a table in the form of Chien's Tables 2 and 3: threads across; minimum, maximum, cycles a warp."""
    lines = ["| threads | " + " | ".join(str(r["threads"]) for r in rows) + " |", "|---|" + "--:|" * len(rows)]
    for words, name, digits in (("minimum time", "low", 1), ("maximum time", "high", 1), ("maximum over warps", "per_warp", 2)):
        lines.append(f"| {words} | " + " | ".join(f"{r[name]:.{digits}f}" for r in rows) + " |")
    return "\n".join(lines)


def chains(micro: Readings) -> Iterator[str]:
    """Yield the tables of dependent chains."""
    for title, name, wanted in (("a multiply-add of three registers (Table 3)", "micro_fma", {}),
                                ("a multiply-add of two registers and a number", "micro_fma", {"REGISTERS": 2}),
                                ("a multiply-add with a shared operand (Table 2): LDS and FFMA", "micro_fma_shared", {}),
                                ("a hop through a ring in shared memory", "micro_shared", {})):
        rows = [r for r in micro.find(kernel=name, **wanted) if "spread" not in r and ("REGISTERS" in r) == bool(wanted)]
        yield f"### Cycles of {title}\n\n{by_threads(rows)}"


def independent(micro: Readings) -> Iterator[str]:
    """Yield the table of several chains in each thread, when it was recorded."""
    rows = micro.find(kernel="micro_chains")
    counts = sorted({r["CHAINS"] for r in rows})
    lines = ["### Cycles of a step of several chains in each thread, slowest warp", "",
             "| threads | " + " | ".join(f"{n} chain{'s' * (n > 1)}" for n in counts) + " |", "|--:|" + "--:|" * len(counts)]
    for threads in sorted({r["threads"] for r in rows}):
        cells = {r["CHAINS"]: f"{r['high']:.1f}" for r in rows if r["threads"] == threads}
        lines.append(f"| {threads} | " + " | ".join(cells.get(n, "") for n in counts) + " |")
    if rows:
        yield "\n".join(lines)


def outer_products(micro: Readings) -> Iterator[str]:
    """Yield the table of outer products of registers beside the model's estimate, when they were recorded."""
    lines = ["### Cycles of a scheduler per multiply-add in outer products of registers", "",
             "| sums of a thread | order | measured, slowest warp | estimated from machine code |", "|---|---|--:|--:|"]
    names = ("threads", "blocks", "STEPS", "TM", "TN", "SERPENTINE")
    rows = [row_of({name: r[name] for name in names}, r["high"]) for r in micro.find(kernel="micro_outer")]
    for r in rows:
        order = "serpentine" if r["SERPENTINE"] else "row by row"
        lines.append(f"| {r['TM']} × {r['TN']} | {order} | {r['measured']:.3f} | {r['estimated']:.3f} |")
    if rows:
        yield "\n".join(lines)


def latencies(micro: Readings) -> Iterator[str]:
    """Yield the tables of single loads."""
    rows = [r for r in micro.find(kernel="micro_shared") if "spread" in r]
    yield "### Cycles of a hop in shared memory by conflict\n\n| words between lanes | cycles |\n|--:|--:|\n" + "\n".join(
        f"| {r['spread']} | {r['low']:.1f} |" for r in rows)
    rings = [r for r in micro.find(kernel="micro_global") if "jump" in r]
    far = {r["footprint"]: r["low"] for r in rings if r["jump"] == 33}
    yield ("### Cycles of a hop in global memory by the size of the ring (slots of 128 bytes, one warp)\n\n"
           "| ring | to the next slot | 33 slots on |\n|--:|--:|--:|\n" + "\n".join(
               f"| {size(r['footprint'])} | {r['low']:.0f} | {round(far[r['footprint']]) if r['footprint'] in far else ''} |"
               for r in rings if r["jump"] == 1))


def active_threads(micro: Readings) -> Iterator[str]:
    """Yield the table of loads against active threads."""
    rows = micro.find(kernel="micro_loads", footprint=256 * MIB)
    kinds = [(blocks, loads) for blocks in (1, 132) for loads in (1, 8)]
    lines = ["### Independent loads against active threads: cycles of the slowest warp's loads, and bytes a cycle of an SM (DRAM)", "",
             "| threads | " + " | ".join(f"{b} block{'s' * (b > 1)}, {n} load{'s' * (n > 1)} a thread" for b, n in kinds) + " |",
             "|--:|" + "--:|" * len(kinds)]
    for threads in sorted({r["threads"] for r in rows}):
        cells = [r for b, n in kinds for r in rows if (r["threads"], r["blocks"], r["LOADS"]) == (threads, b, n)]
        lines.append(f"| {threads} | " + " | ".join(f"{r['high'] * r['steps']:.0f}; {r['bytes_per_cycle']:.2f}" for r in cells) + " |")
    yield "\n".join(lines)


def page(text: str) -> str:
    """Return the page's text with the tables written anew."""
    micro = readings("micro")
    parts = [f"{micro.label}, driver {micro.driver}.", *chains(micro), *independent(micro), *outer_products(micro),
             *latencies(micro), *active_threads(micro)]
    return TABLES.renewed(text, "\n\n".join(parts))


command = page_command(PAGE, page)
