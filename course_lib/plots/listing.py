"""The kernel's source with a counter column per line, as a profiler shows it."""

from course_lib.plots.counters import count
from course_lib.plots.table import Table


def _ratio(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _requests(line):
    return count(line, "global load requests") + count(line, "global store requests")


def _per_request(line):
    sectors = count(line, "global load sectors") + count(line, "global store sectors")
    return _ratio(sectors / _requests(line)) if _requests(line) else ""


def _wavefronts(line):
    return count(line, "shared load wavefronts") + count(line, "shared store wavefronts")


COLUMNS = {
    "global requests": _requests,
    "sectors / request": _per_request,
    "shared wavefronts": _wavefronts,
    "warp instructions": lambda line: count(line, "instructions"),
}


def source_listing(source, lines, *, hazards=(), first=None, last=None, caption="", columns=tuple(COLUMNS)):
    """Set counters beside the source lines that raised them.

    Parameters
    ----------
    source : str
        CUDA C text.
    lines : mapping of line number to counters
        `result.lines`.
    hazards : sequence of Hazard
        `result.hazards`; their lines are marked, and a column counts them.
    first, last : int, optional
        Lines to show; default from the `__global__` line to the end.
    caption : str
    columns : sequence of str
        Of `COLUMNS`.

    Returns
    -------
    Table
    """
    text = source.splitlines()
    if first is None:
        first = next((n for n, line in enumerate(text, 1) if "__global__" in line and not line.startswith("//")), 1)
    last = min(last or len(text), len(text))
    per_line = {n: sum(h.count for h in hazards if n in (h.first_line, h.second_line)) for n in range(first, last + 1)}
    header = ["line", *columns] + ["hazards"] * bool(hazards) + ["source"]
    rows, marked = [], []
    for n in range(first, last + 1):
        counters = lines.get(n, {})
        cells = [_blank_zero(COLUMNS[column](counters)) for column in columns]
        if per_line[n]:
            marked.append(len(rows))
        rows.append((str(n), *cells) + ((_blank_zero(per_line[n]),) if hazards else ()) + (text[n - 1],))
    return Table(header, rows, caption, mono=(len(header) - 1,), marked=marked)


def _blank_zero(value):
    return f"{value:,}" if isinstance(value, int) and value else value or ""


def busiest_line(lines, name="global load sectors"):
    """Return the source line with the highest count of a counter (short name).

    >>> from course_lib.plots.counters import NAMES
    >>> busiest_line({7: {NAMES["global load sectors"]: 3}, 9: {NAMES["global load sectors"]: 5}})
    9
    """
    return max(lines, key=lambda n: count(lines[n], name))


def hazard_sentences(hazards):
    """Return a sentence per hazard: what, where, which two threads, how often."""
    kinds = {"RAW": "is read before it was written for sure", "WAR": "is overwritten before it was read for sure",
             "WAW": "is written twice in no certain order", "uninitialised": "is read and was never written"}
    said = []
    for h in hazards:
        first = f"line {h.first_line} by thread {_xy(h.first_thread)} and " if h.first_line else ""
        second = f"line {h.second_line} by thread {_xy(h.second_thread)}"
        said.append(f"{h.kind}: shared byte {h.address} {kinds.get(h.kind, 'is in conflict')}: {first}{second}, "
                    f"block {_xy(h.block)}; {h.count:,} times in all, no barrier between")
    return said


def _xy(index):
    return f"({', '.join(str(i) for i in tuple(index)[:2])})"
