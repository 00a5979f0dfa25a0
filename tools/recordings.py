"""The GPU that is recorded, and the file that a recording writes."""

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools import ToolError


def usable_gpu() -> Any:
    """Return what is known of the GPU.

    Raises
    ------
    ToolError
        When there is none.
    """
    from course_lib import gpu
    status = gpu.probe()
    if not status.usable:
        raise ToolError(f"there is no GPU to measure on: {status.reason}")
    return status


def write_recording(folder: Path, name: str, rows: Iterable[dict[str, Any]], sources: Mapping[str, str], command: str, device: str,
                    driver: str = "") -> None:
    """Write rows in the form of `course_lib.data.readings`, with the command that made them and the hashes of the kernels' code."""
    from course_lib.data.readings import Readings, dumps
    made = Readings(device, str(driver), datetime.date.today().isoformat(), f"python -m tools {command}", tuple(rows), dict(sources))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(dumps(made), encoding="utf-8")
