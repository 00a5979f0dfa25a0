"""The kernel's source with a counter column per line, as a profiler shows it."""

from collections.abc import Callable, Collection, Mapping, Sequence

from course_lib.run.result import counter_name
from course_lib.run.table import Table
from course_lib.simt.async_report import Finding
from course_lib.simt.report import Hazard

INSTRUCTIONS = "smsp__inst_executed.sum"


def _count(counters: Mapping[str, int], what: str, kinds: Sequence[str] = ("load", "store")) -> int:
    """Return a count of loads and stores together."""
    return sum(counters.get(counter_name(what, kind), 0) for kind in kinds)


def _ratio(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _per_request(counters: Mapping[str, int]) -> str:
    requests = _count(counters, "requests")
    return _ratio(_count(counters, "sectors") / requests) if requests else ""


def _per_access(counters: Mapping[str, int]) -> str:
    accesses = _count(counters, "shared instructions")
    return _ratio(_count(counters, "wavefronts") / accesses) if accesses else ""


COLUMNS: dict[str, Callable[[Mapping[str, int]], int | str]] = {
    "global requests": lambda counters: _count(counters, "requests"),
    "sectors / request": _per_request,
    "shared wavefronts": lambda counters: _count(counters, "wavefronts"),
    "bank conflicts": lambda counters: _count(counters, "conflicts"),
    "instructions, counted in PTX": lambda counters: counters.get(INSTRUCTIONS, 0),
}
USUAL = tuple(COLUMNS)
COLUMNS |= {"shared accesses": lambda counters: _count(counters, "shared instructions"), "wavefronts / access": _per_access}


def source_listing(source: str, lines: Mapping[int, Mapping[str, int]], *, hazards: Sequence[Hazard | Finding] = (),
                   notes: Mapping[int, str] | None = None, first: int | None = None, last: int | None = None, caption: str = "",
                   columns: Sequence[str] = USUAL, sass: Mapping[int, int] | None = None, mark: Collection[int] = ()) -> Table:
    """Set counters beside the source lines that raised them.

    Parameters
    ----------
    source
        CUDA C text.
    lines
        Counters by line number: `result.lines`.
    hazards
        `result.hazards`; their lines are marked, and a column counts them.
    notes
        Words for a column "found"; their lines are marked.
    first, last
        Lines to show; default from the `__global__` line to the end.
    columns
        Of `COLUMNS`; one that is empty in all of these lines is left out.
    sass
        Machine instructions that the compiler made of the line, each once however often it is executed
        (`linked_code(…).sass_per_line`): a column of their own.
    mark
        Lines to set on a coloured ground.
    """
    text = source.splitlines()
    columns = [c for c in columns if any(COLUMNS[c](counters) for counters in lines.values())]
    if first is None:
        first = next((n for n, line in enumerate(text, 1) if "__global__" in line and not line.startswith("//")), 1)
    last = min(last or len(text), len(text))
    per_line = {n: sum(h.count for h in hazards if n in (h.first_line, h.second_line)) for n in range(first, last + 1)}
    header = ["line", *columns, *["SASS instructions"] * bool(sass), *["hazards"] * bool(hazards), *["found"] * bool(notes), "source"]
    rows: list[tuple[str, ...]] = []
    marked: list[int] = []
    for n in range(first, last + 1):
        counters = lines.get(n, {})
        cells = [_blank_zero(COLUMNS[column](counters)) for column in columns] + ([_blank_zero(sass.get(n, 0))] if sass else [])
        said = (notes or {}).get(n, "")
        if per_line[n] or said or n in mark:
            marked.append(len(rows))
        rows.append((str(n), *cells, *[_blank_zero(per_line[n])] * bool(hazards), *[said] * bool(notes), text[n - 1]))
    return Table(header, rows, caption, mono=(len(header) - 1,), marked=marked)


def _blank_zero(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) and value else value or ""


def busiest_line(lines: Mapping[int, Mapping[str, int]], what: str = "sectors", kind: str = "load") -> int:
    """Return the source line with the highest count; `what` and `kind` as in `RunResult.count`.

    >>> busiest_line({7: {counter_name("sectors", "load"): 3}, 9: {counter_name("sectors", "load"): 5}})
    9
    """
    return max(lines, key=lambda n: lines[n].get(counter_name(what, kind), 0))
