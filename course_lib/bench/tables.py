"""The simulator's figures as tables of text."""

from collections.abc import Sequence
from typing import TypeAlias

from course_lib.bench.records import Measurement, Result

TextTable: TypeAlias = tuple[str, Sequence[str], Sequence[tuple[str, ...]]]         # title, header, rows
GET_NUMBA = ("not measured: this Python has no numba. In a scratch environment: python -m venv V && V/bin/pip install numba, "
             "then --numba-python V/bin/python")


def tables(result: Result) -> list[TextTable]:
    """Return (title, header, rows) of each table; rows hold text."""
    return [speeds(result), compilations(result), races(result), numba(result)]


def sizes(measurement: Measurement) -> str:
    """Write a kernel's block or tile.

    >>> from course_lib.bench import Measurement, Spread
    >>> sizes(Measurement("run", "sgemm_naive", {"bx": 16, "by": 8}, 512, Spread(1, 1, 1, 1), "cpu"))
    'bx = 16, by = 8'
    """
    return ", ".join(f"{name} = {value}" for name, value in measurement.parameters.items())


def spread(measurement: Measurement) -> str:
    """Write GFLOP/s of the median time, and of the quartiles."""
    seconds = measurement.seconds
    slow, fast = (measurement.work / s / 1e9 for s in (seconds.high, seconds.low))
    return f"{measurement.gflops:.3g} ({slow:.3g} … {fast:.3g})"


def speeds(result: Result) -> TextTable:
    rows, most = [], max((m.how["workers"] for m in result.find("run")), default=1)
    for one in (m for m in result.find("run", workers=1) if m.clock == "cpu"):
        wall = {n: m for n in (1, most) for m in result.find("run", one.kernel, one.parameters, workers=n) if m.clock == "wall"}
        ratio = wall[1].seconds.median / wall[most].seconds.median
        rows.append((f"{one.kernel}.cu", sizes(one), str(one.N), spread(one), spread(wall[1]), spread(wall[most]), f"{ratio:.2f}"))
    return (f"Speed, GFLOP/s with all counters and bounds checks on: median (quartiles) of {result.conditions['repeats']}",
            ("kernel", "block or tile", "N", "1 worker, CPU time", "1 worker, wall", f"{most} workers, wall", "ratio"), rows)


def compilations(result: Result) -> TextTable:
    rows = []
    for total in result.find("compile"):
        parts = [result.find(what, total.kernel, total.parameters)[0] for what in ("nvrtc", "translate", "compile", "load")]
        rows.append((f"{total.kernel}.cu", sizes(total), *(f"{1000 * m.seconds.median:.0f}" for m in parts)))
    return ("First launch (one element), CPU milliseconds: of a kernel never seen before, and of one found on the disk",
            ("kernel", "block or tile", "NVRTC", "translation", "both", "found on the disk"), rows)


def races(result: Result) -> TextTable:
    rows = []
    for plain in result.find("races", racecheck=False):
        checked = result.find("races", plain.kernel, plain.parameters, racecheck=True)[0]
        ratio = checked.seconds.median / plain.seconds.median
        rows.append((f"{plain.kernel}.cu", sizes(plain), str(plain.N), spread(plain), spread(checked), f"{ratio:.1f}"))
    return ("Search for races, GFLOP/s on one worker, CPU time",
            ("kernel", "block or tile", "N", "without", "with racecheck", "times slower"), rows)


def numba(result: Result) -> TextTable:
    """Compare CPU time for each multiply-add."""
    found = result.find("numba")
    if not found:
        return (f"numba's CUDA simulator: {GET_NUMBA}", (), [])
    theirs = found[0]
    ours = next(m for m in result.find("run", theirs.kernel, theirs.parameters, workers=1) if m.clock == "cpu")
    each = [2 * m.seconds.median / m.work * 1e9 for m in (theirs, ours)]
    rows = [(f"numba {theirs.how['version']}, NUMBA_ENABLE_CUDASIM=1", str(theirs.N), f"{each[0]:,.0f}", ""),
            ("simt, one worker", str(ours.N), f"{each[1]:.3f}", f"{each[0] / each[1]:,.0f}")]
    return ("A 16 × 16 tile on two simulators, CPU nanoseconds for each multiply-add",
            ("simulator", "N", "ns", "times faster"), rows)


def plain(result: Result) -> str:
    """Return the tables for a terminal."""
    parts = [f"Measured on {result.machine.label}, {result.date}"]
    for title, header, rows in tables(result):
        lines = [list(header), *map(list, rows)] if header else []
        widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
        parts.append("\n".join([title, *("  ".join(cell.ljust(w) if j < 2 else cell.rjust(w)
                                                    for j, (cell, w) in enumerate(zip(line, widths))).rstrip() for line in lines)]))
    return "\n\n".join(parts)


def markdown(result: Result) -> str:
    """Return the tables for a page of documentation, with date, machine and conditions."""
    load = result.conditions["load_before"]
    versions = ", ".join(f"{name} {version}" for name, version in result.machine.versions.items())
    parts = [f"Measured on {result.date} on {result.machine.label}; {versions}. "
             + (f"Load average before: {load:.1f}." if load is not None else "")
             + (" Other work took most of the cores meanwhile: look at the CPU times, the wall clock shows the waiting."
                if load is not None and load > result.machine.cores / 2 else "")]
    for title, header, rows in tables(result):
        lines = [] if not header else ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]
        parts.append("\n".join([f"**{title}**", "", *lines]).rstrip())
    return "\n\n".join(parts) + "\n"
