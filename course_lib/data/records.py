"""One record for one timed kernel, whoever measured it: sweeps write it, files keep it, plots draw it."""

import json
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

STATES = ("done", "failed", "skipped", "pruned")


@dataclass(frozen=True)
class Record:
    """What one kernel took for one problem, and where.

    Attributes
    ----------
    kernel
        A name of the catalog; "cuBLAS" is NVIDIA's library, "copy" a copy in the GPU's memory.
    N
        Columns of C; the matrices are square where M and K are not given. Kernels of many vectors: how many vectors.
    parameters
        Tile or block sizes, threads.
    median_s, low_s, high_s
        Seconds: the middle sample and the quartiles. None where nothing was timed: on the simulator, or in a failure.
    gflops
        10**9 floating-point operations a second; a multiply-add is two, also where a document counts it as one.
    M, K
        Rows of C and columns of A; default N. For kernels of many vectors M and K are as N, the matrix is in `parameters`.
    kind, dtype
        As in the catalog: "product", "transpose", "vectors", …; "float32" or "float64".
    backend, l2
        "gpu", "sim" or "cpu"; "warm" (the launch before left its data in the L2) or "cold" (the L2 was overwritten first).
    source
        Hash of the kernel's code: its text without comments and blank lines.
    dynamic_shared
        Bytes of shared memory that each block was given though it needs none: fewer blocks then share an SM.
    grid
        Blocks along x, y, z where the launch had others than the result needs; empty: those that it needs.
    repeats
        Samples.
    graph
        Whether a sample was a CUDA graph of many launches.
    gb_s
        10**9 bytes a second: every operand once, the result once.
    correct
        The answer after timing, held to float64; None when nothing was computed.
    state, problem
        "done", "failed", "skipped" (these parameters cannot run) or "pruned" (by a model they cannot be the fastest), and the sentence
        that says why.
    counters
        Of a run on the simulator.
    """

    kernel: str
    N: int
    parameters: dict[str, int]
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    gflops: float | None = None
    M: int = 0
    K: int = 0
    kind: str = "product"
    dtype: str = "float32"
    backend: str = "gpu"
    l2: str = "warm"
    device: str = ""
    driver: str = ""
    date: str = ""
    source: str = ""
    dynamic_shared: int = 0
    grid: tuple[int, ...] = ()
    repeats: int = 0
    graph: bool = False
    gb_s: float | None = None
    correct: bool | None = None
    state: str = "done"
    problem: str = ""
    counters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        """Make square what is not said to be otherwise."""
        for name in ("M", "K"):
            object.__setattr__(self, name, getattr(self, name) or self.N)
        object.__setattr__(self, "grid", tuple(self.grid))          # a list in JSON

    @property
    def seconds(self) -> float:
        """Return the recorded time, `median_s` of a record that has one.

        Raises
        ------
        ValueError
            When nothing was timed.

        >>> Record("sgemm_naive", 64, {}, median_s=2.0).seconds
        2.0
        """
        if self.median_s is None:
            raise ValueError(f"{self.kernel} was not timed at N = {self.N}: {self.state}")
        return self.median_s

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what two records of the same measurement share: everything that was chosen."""
        chosen = json.dumps(self.parameters, sort_keys=True)
        return self.kernel, self.M, self.N, self.K, chosen, self.dtype, self.backend, self.l2, self.dynamic_shared, self.grid


@dataclass(frozen=True)
class Recording:
    """The records of one file; `label` is the sentence that goes with every figure drawn from them."""

    device: str
    driver: str
    date: str
    records: tuple[Record, ...]

    @property
    def label(self) -> str:
        """Where and when, e.g. "recorded on NVIDIA H200, 2026-11-21"."""
        return f"recorded on {self.device}, {self.date}"

    def find(self, kernel: str | None = None, N: int | None = None, **fields: Any) -> tuple[Record, ...]:
        """Return the records of a kernel, of a size, and with these fields."""
        return tuple(r for r in self.records if kernel in (None, r.kernel) and N in (None, r.N)
                     and all(getattr(r, name) == value for name, value in fields.items()))


def spread(times: Iterable[Record | Mapping[str, Any]]) -> str:
    """Say how sure recorded times are: samples, how far the quartiles lie from the median at most, and who set the clock.

    Parameters
    ----------
    times
        Records, or rows with median_s, low_s and high_s in seconds and `repeats`.

    >>> spread([Record("sgemm_naive", 64, {}, 1e-3, 0.999e-3, 1.002e-3, repeats=5)])
    'each the median of 5 times, half of which lie within 0.2 % of it; the driver set the clock'
    """
    rows = [row if isinstance(row, Mapping) else vars(row) for row in times]
    widest = max(max(row["high_s"] - row["median_s"], row["median_s"] - row["low_s"]) / row["median_s"] for row in rows)
    counts = sorted({row["repeats"] for row in rows})
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    within = math.ceil(1000 * widest - 1e-6) / 10
    return f"each the median of {many} times, half of which lie within {within:.1f} % of it; the driver set the clock"


def clocks(rows: Iterable[Mapping[str, Any]]) -> str:
    """Say at which clock rows with `mhz` were recorded.

    >>> clocks([{"mhz": 1974}, {"mhz": 1980}])
    '1,974 to 1,980 MHz'
    """
    found = sorted(row["mhz"] for row in rows)
    return f"{found[0]:,} to {found[-1]:,} MHz"


def as_row(record: Record, left_out: Container[str] = ()) -> dict[str, Any]:
    """Return a record as a dict for JSON: what has its default value, and the fields `left_out`, do not stand in it.

    >>> as_row(Record("sgemm_naive", 64, {"bx": 16}, 1e-3))
    {'kernel': 'sgemm_naive', 'N': 64, 'parameters': {'bx': 16}, 'median_s': 0.001}
    """
    row = {}
    for entry in fields(Record):
        value = getattr(record, entry.name)
        usual = record.N if entry.name in ("M", "K") else entry.default if entry.default is not MISSING else {}
        if entry.name in ("kernel", "N", "parameters") or (entry.name not in left_out and value != usual):
            row[entry.name] = five_digits(value) if entry.name in ("median_s", "low_s", "high_s", "gflops", "gb_s") else value
    return row


def five_digits(x: float | None) -> float | None:
    """Keep five significant digits: more than the spread warrants."""
    return None if x is None else float(f"{x:.5g}")


def dumps(recording: Recording, **head: Any) -> str:
    """Write a recording as JSON text, one record a line; device, driver and date stand once in its head."""
    shared = {"device": recording.device, "driver": recording.driver, "date": recording.date}
    lines = ",\n".join(json.dumps(as_row(r, left_out=tuple(shared)), ensure_ascii=False) for r in recording.records)
    return json.dumps(shared | head, ensure_ascii=False)[:-1] + ',\n"records": [\n' + lines + "\n]}\n"


def loads(text: str) -> Recording:
    """Read what `dumps` wrote.

    >>> made = Recording("a GPU", "1.2", "2026-11-21", (Record("sgemm_naive", 64, {}, 1e-3, device="a GPU"),))
    >>> loads(dumps(made)).records[0].device
    'a GPU'
    """
    raw = json.loads(text)
    where = {name: raw[name] for name in ("device", "driver", "date")}
    return Recording(**where, records=tuple(Record(**(where | row)) for row in raw["records"]))
