"""Figures recorded on real GPUs, each file with its device, driver and date, and the script that made it."""

from pathlib import Path

from course_lib.data.readings import NAMES as READINGS
from course_lib.data.readings import Readings, in_turns, readings, tiled
from course_lib.data.records import Record, Recording, clocks, loads, spread

__all__ = ["READINGS", "Readings", "Record", "Recording", "clocks", "in_turns", "load", "names", "readings", "spread", "tiled"]

FOLDER = Path(__file__).parent


def load(name: str) -> Recording:
    """Return the Recording `name` ("ladder": every rung at several N, 3 warm-up runs, then the median).

    >>> load("ladder").device
    'NVIDIA H200'
    """
    return loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def names() -> tuple[str, ...]:
    """Return the names of all recordings of times; `readings` has the others.

    >>> "ladder" in names()
    True
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json") if path.stem not in READINGS))
