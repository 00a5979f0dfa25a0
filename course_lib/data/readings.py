"""Recorded figures that are no times of kernels: readings of the clock, what Nsight Compute counted, a training run."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Files that hold rows, not `Record`s.
NAMES = ("again", "ballast", "candidates", "choices", "closing", "coalescing", "cpu_apart", "cpu_orders", "cpu_roof", "cycles", "filling",
         "fragments", "library", "micro", "mma", "padded_rows", "pipeline", "race", "roles", "rungs", "sharing", "short", "stages",
         "stores", "together", "traffic", "training", "tried", "vectors", "warpgroups")


@dataclass(frozen=True)
class Readings:
    """The rows of one file, each a dict; `label` is the sentence that goes with every figure drawn from them.

    `sources` has the hash of each measured kernel's code, by its name.
    """

    device: str
    driver: str
    date: str
    made_by: str
    rows: tuple[dict[str, Any], ...]
    sources: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """Where and when, e.g. "recorded on NVIDIA H200, 2026-11-21"."""
        return f"recorded on {self.device}, {self.date}"

    def find(self, **values: Any) -> tuple[dict[str, Any], ...]:
        """Return the rows that hold these values."""
        return tuple(row for row in self.rows if all(row.get(name) == value for name, value in values.items()))


def dumps(readings: Readings) -> str:
    """Write readings as JSON text, one row a line."""
    head = {name: getattr(readings, name) for name in ("device", "driver", "date", "made_by", "sources")}
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in readings.rows)
    return json.dumps(head, ensure_ascii=False)[:-1] + ',\n"rows": [\n' + lines + "\n]}\n"


def loads(text: str) -> Readings:
    """Read what `dumps` wrote.

    >>> made = Readings("a GPU", "1.2", "2026-11-21", "a test", ({"kernel": "micro_fma", "threads": 1},))
    >>> loads(dumps(made)) == made, made.find(threads=1) == made.rows
    (True, True)
    """
    raw = json.loads(text)
    return Readings(**{**raw, "rows": tuple(raw["rows"])})


def readings(name: str) -> Readings:
    """Return the Readings "micro" (`run_micro`'s tables), "training", or ncu's counts: "traffic" of products, "vectors" of mxv kernels."""
    return loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))


def in_turns(kernel: str, **parameters: int) -> dict[str, Any]:
    """Return the row of together.json that holds a kernel's time for 4096 × 4096 matrices, recorded in turns with others, and its clock.

    Its matrices have no padded rows, and its blocks no shared memory beyond their own.

    >>> in_turns("sgemm_padded", TILE=16, PAD=1)["mhz"]
    1979
    """
    return readings("together").find(kernel=kernel, N=4096, parameters=parameters, padding=0, shared=0, along=False)[0]


def tiled() -> dict[str, Any]:
    """Return the row of coalescing.json with the time of lesson 04's kernel: tiles of 16 × 16, N = 4096. Every lesson says this one.

    >>> tiled()["median_s"]
    0.017636
    """
    return readings("coalescing").find(what="product", variant="tiled", TILE=16, N=4096, padding=0)[0]
