"""Figures recorded on real GPUs, each file with its device, driver and date, and the script that made it."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Record:
    """One timed kernel: matrix size N, tile or block parameters, median time and quartiles in seconds, GFLOP/s."""

    kernel: str
    N: int
    parameters: dict
    median_s: float
    low_s: float
    high_s: float
    gflops: float


@dataclass(frozen=True)
class Recording:
    """The records of one file; `label` is the sentence that goes with every figure drawn from them."""

    device: str
    driver: str
    date: str
    records: tuple

    @property
    def label(self):
        """Where and when, e.g. "recorded on NVIDIA H200, 2026-11-21"."""
        return f"recorded on {self.device}, {self.date}"


def load(name):
    """Return the Recording `name` ("ladder": every kernel at several N, 3 warm-up runs, then the median).

    >>> load("ladder").device
    'NVIDIA H200'
    """
    raw = json.loads(Path(__file__).with_name(f"{name}.json").read_text())
    return Recording(raw["device"], raw["driver"], raw["date"], tuple(Record(**r) for r in raw["records"]))
