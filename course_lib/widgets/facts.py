"""The rows of a live widget's table: each names one fact of a result. No widgets here."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.plots import Table, linked_code
from course_lib.run import LaunchResult, run
from course_lib.run.traces import requests
from course_lib.toolchain import tensor_step

Facts = Mapping[str, str]           # text by label
Fact = tuple[str, str] | None       # a row of the table; None where it says nothing of a result

EXECUTED, MATRIX = "smsp__inst_executed.sum", "smsp__inst_executed_pipe_tensor_op_hmma.sum"
KINDS = ("load", "store")
LINE_BYTES, SIDE = 128, 32         # of a line of the GPU's caches; rows and columns of matrices whose rows are one line each


def _number(value):
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if value >= 0.1 or value == 0 else f"{value:.3g}"


def _counted(label, value):
    """Return a row whose number is `value(result)`; None there, or no counters, leaves the row out."""
    def row(result):
        found = None if result.counters is None else value(result)
        return None if found is None else (label, _number(found))
    return row


def _both(result, what):
    """Return a count of shared memory, loads and stores together; None for a kernel that does not use it."""
    used = any(result.count("shared instructions", kind) for kind in KINDS)
    return sum(result.count(what, kind) for kind in KINDS) if used else None


def _each_mma(kind):
    """Return a function: the wavefronts of shared loads or stores for each matrix instruction; None without any."""
    return lambda result: result.count("wavefronts", kind) / result.counters[MATRIX] if result.counters.get(MATRIX) else None


def _multiply_adds(result):
    """Return the multiply-adds of a product, or of many vectors; None for anything else."""
    return result.M * result.N * result.K if hasattr(result, "K") else getattr(result, "multiply_adds", None)


def _per(value):
    """Return a function that divides `value(result)` by the multiply-adds, where there are any of both."""
    def row(result):
        found, work = value(result), _multiply_adds(result)
        return found / work if found and work else None
    return row


def _ratio(above, below):
    """Return a function that divides two counts, None where the second is 0."""
    def row(result):
        return above(result) / below(result) if below(result) else None
    return row


def _threads(result):
    return "threads a block × blocks", f"{int(np.prod(result.block)):,} × {int(np.prod(result.grid)):,}"


def _lines(result):
    """Return the lines of A and B that the first warp of a kernel without shared memory touches in a step, where a row is a line."""
    if not hasattr(result, "K"):
        return None
    A = np.ones((SIDE, SIDE), np.float32)
    traced = run(result.kernel, A, A, backend="sim", trace=(((0, 0, 0), 0),), **result.parameters)
    asked = [requests(traced, array=name, load=True)[0].addresses for name in "AB"]
    return "lines per step, A + B", _number(sum(np.unique(addresses[addresses >= 0] // LINE_BYTES).size for addresses in asked))


def _time(result):
    return None if result.time is None else (f"time, {result.label}", f"{1e3 * result.time.median_s:.3g} ms")


def _speed(result):
    if result.time is None:
        return None
    gflops = getattr(result, "gflops", None) if hasattr(result, "K") else None      # many vectors: the bytes are what matters
    return (f"GFLOP/s, {result.label}", f"{gflops:,.0f}") if gflops else (f"GB/s, {result.label}", f"{result.gb_s:,.0f}")


def _occupancy(result):
    return f"occupancy, modelled for {result.device}", f"{100 * result.occupancy.fraction:.0f} %"


def _machine(result):
    """Return the instructions per multiply-add that the compiler made: of a whole step along K, or else of the inner loop."""
    if getattr(result.kernel, "inputs", ""):
        return _tensor_machine(result)
    code = linked_code(result.kernel, **result.parameters)
    found = code.step or code.per_multiply_add
    return None if found is None else (f"machine instructions / multiply-add, {code.arch}", _number(found))


def _tensor_machine(result):
    """Return the instructions of a step along K for each 32 multiply-adds of the product; None where the compiler made two loops of it."""
    try:
        step = tensor_step(result.kernel, **result.parameters)
    except CourseError:
        return None
    p, warps = result.parameters, int(np.prod(result.block)) // WARP
    return "machine instructions / multiply-add, sm_90", _number(step.instructions * WARP * warps / (p["BM"] * p["BN"] * p["BK"]))


def _length(result):
    code = linked_code(result.kernel, **result.parameters)
    return f"machine instructions in the kernel, {code.arch}", _number(len(code.sass))


def _used(label, share):
    """Return a row for a share of `VectorsResult`, left out for anything else."""
    def row(result):
        found = getattr(result, share, None)
        return None if found is None else (label, f"{100 * found:.3g} %")
    return row


def _intensity(result):
    """Return the multiply-adds for each byte that many vectors must move at least."""
    work, moved = getattr(result, "multiply_adds", None), getattr(result, "bytes", None)
    return ("multiply-adds a byte, at most", _number(work / moved)) if work and moved else None


def _useful(result):
    """Return the share of the loaded bytes that are wanted, of a copy or a transposition."""
    if result.counters is None or not hasattr(result, "bytes") or not result.count("sectors") or hasattr(result, "load_utilisation"):
        return None
    return "wanted share of the loaded bytes", f"{100 * (result.bytes / 2) / (32 * result.count('sectors')):.3g} %"


def _outputs(result):
    """Return the elements of C that a thread computes, where the grid covers C exactly."""
    threads = int(np.prod(result.block)) * int(np.prod(result.grid))
    elements = result.M * result.N if hasattr(result, "K") else 0
    return ("outputs a thread", _number(elements // threads)) if elements and elements % threads == 0 else None


ROWS: dict[str, Callable[[Any], Fact]] = {
    "threads": _threads,
    "time": _time,
    "speed": _speed,
    "outputs": _outputs,
    "load requests": _counted("global load requests", lambda r: r.count("requests")),
    "load sectors": _counted("global load sectors", lambda r: r.count("sectors")),
    "store sectors": _counted("global store sectors", lambda r: r.count("sectors", "store")),
    "sectors a load": _counted("sectors a load request", lambda r: r.sectors_per_request()),
    "sectors a step": _counted("sectors per step, A + B", lambda r: 2 * r.sectors_per_request()),
    "lines a step": _lines,
    "sectors a store": _counted("sectors a store request", lambda r: r.sectors_per_request("store")),
    "wanted": _useful,
    "loads used": _used("used bytes of load requests", "load_utilisation"),
    "stores used": _used("used bytes of store requests", "store_utilisation"),
    "multiply-adds a byte": _intensity,
    "sectors / multiply-add": _counted("load sectors / multiply-add", _per(lambda r: r.count("sectors"))),
    "wavefronts / multiply-add": _counted("shared wavefronts / multiply-add", _per(lambda r: r.count("wavefronts"))),
    "wavefronts / warp multiply-add": _counted("shared wavefronts / multiply-add of a warp", _per(lambda r: WARP * r.count("wavefronts"))),
    "wavefronts / mma": _counted("shared wavefronts of loads / matrix instruction", _each_mma("load")),
    "stored wavefronts / mma": _counted("shared wavefronts of stores / matrix instruction", _each_mma("store")),
    "wavefronts": _counted("shared wavefronts, loads and stores", lambda r: _both(r, "wavefronts")),
    "conflicts": _counted("bank conflicts: wavefronts above the ideal", lambda r: _both(r, "conflicts")),
    "wavefronts a load": _counted("wavefronts a shared load", _ratio(
        lambda r: r.count("wavefronts"), lambda r: r.count("shared instructions"))),
    "wavefronts a store": _counted("wavefronts a shared store", _ratio(
        lambda r: r.count("wavefronts", "store"), lambda r: r.count("shared instructions", "store"))),
    "shared loads / multiply-add": _counted("shared load instructions / multiply-add", _per(
        lambda r: WARP * r.count("shared instructions"))),
    "instructions / multiply-add": _counted("PTX instructions / multiply-add", _per(lambda r: WARP * r.counters.get(EXECUTED, 0))),
    "machine instructions / multiply-add": _machine,
    "multiply-adds / matrix instruction": _counted("multiply-adds / matrix instruction", lambda r: (
        _multiply_adds(r) / r.counters[MATRIX] if _multiply_adds(r) and r.counters.get(MATRIX) else None)),
    "code length": _length,
    "registers": lambda r: ("registers a thread", _number(r.resources.registers)),
    "spilled": lambda r: ("bytes of a thread in local memory", _number(r.resources.local_bytes)),
    "shared bytes": lambda r: ("shared bytes a block", _number(r.resources.static_shared_bytes + r.kernel.dynamic_bytes(**r.parameters))),
    "warps": lambda r: (f"warps an SM, modelled for {r.device}", _number(r.occupancy.warps)),
    "occupancy": _occupancy,
    "limited by": lambda r: ("occupancy limited by", str(r.occupancy.limiter)),
}
USUAL = ("threads", "time", "speed", "load requests", "load sectors", "sectors a load", "sectors a store", "sectors / multiply-add",
         "wavefronts / multiply-add", "registers", "shared bytes", "occupancy", "limited by")


def check_rows(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the names of rows as a tuple.

    Raises
    ------
    CourseError
        For a name that no row has; it lists those there are.
    """
    rows = tuple(rows)
    if unknown := [name for name in rows if name not in ROWS]:
        raise CourseError(f"there is no row {unknown[0]!r}; the rows are {', '.join(ROWS)}", rows=rows)
    return rows


def facts(result: LaunchResult, rows: Iterable[str] = USUAL) -> dict[str, str]:
    """Return what the table shows of a result, as a mapping of label to text.

    Parameters
    ----------
    rows
        Names of `ROWS`, in the order wanted; one that says nothing of this result (no shared memory, no time) is left out.
    """
    found = (ROWS[name](result) for name in check_rows(rows))
    return dict(row for row in found if row is not None)


def facts_table(now: Facts, before: Facts | None = None, caption: str = "") -> Table:
    """Set the facts of this position beside those of the position before it.

    Parameters
    ----------
    now, before
        From `facts`; rows that differ are marked.
    """
    if not before:
        return Table(("", "now"), list(now.items()), caption)
    rows = [(label, text, before.get(label, "")) for label, text in now.items()]
    return Table(("", "now", "before"), rows, caption, marked=[i for i, row in enumerate(rows) if row[1] != row[2]])
