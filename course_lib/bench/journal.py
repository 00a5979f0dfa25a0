"""The file of a sweep: a record a line, written as soon as it is there, so that a sweep can go on where it was stopped."""

import dataclasses
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from course_lib.bench.tasks import Identity, Task
from course_lib.data.records import Record, as_row
from course_lib.errors import CourseError

FINAL = ("done", "skipped", "pruned")


class Journal:
    """The records of a sweep in a JSON-lines file, or in memory alone.

    Parameters
    ----------
    resume
        Keep what the file holds; otherwise a file that is there is refused.

    Raises
    ------
    CourseError
        For a file that is there, or that holds something else.
    """

    def __init__(self, path: Path | str | None = None, resume: bool = False) -> None:
        self.path = Path(path) if path else None
        self.records: list[Record] = []
        if self.path and self.path.exists():
            if not resume:
                raise CourseError(f"{self.path} is there already: go on with it by resume=True (--resume), or take another file",
                                  path=str(self.path))
            self.records = read(self.path)

    def done(self, tasks: Iterable[Task], device: str | None = None) -> dict[Identity, Record]:
        """Return the record of each task that needs no second measurement: task's identity -> record.

        A record counts when the kernel's text is still the same, when it did not fail, and when it is from `device` (None: any).
        """
        wanted = {t.identity: t.source for t in tasks}
        return {r.identity: r for r in self.records
                if r.identity in wanted and r.source == wanted[r.identity] and r.state in FINAL
                and (device is None or r.state == "skipped" or r.device == device)}

    def start(self, tasks: Iterable[Task], done: Iterable[Identity]) -> None:
        """Drop the records that are to be measured again, and a last line that was not finished."""
        again = {t.identity for t in tasks} - set(done)
        self.records = [r for r in self.records if r.identity not in again]
        self._rewrite()

    def add(self, record: Record) -> None:
        """Keep one record, on the disk at once."""
        self.records.append(record)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(record))

    def finish(self, order: Iterable[Identity]) -> None:
        """Put the records in the order of these identities, behind those of other sweeps."""
        place = {identity: i for i, identity in enumerate(order)}
        self.records.sort(key=lambda r: place.get(r.identity, -1))
        self._rewrite()

    def _rewrite(self) -> None:
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
            beside.write_text("".join(map(_line, self.records)), encoding="utf-8")
            beside.replace(self.path)


def _line(record: Record) -> str:
    return json.dumps(as_row(record), ensure_ascii=False) + "\n"


def _record(row: Any) -> Record:
    """Return the record of a row; raise a ValueError for what is none."""
    known = {field.name: field for field in dataclasses.fields(Record)}
    needed = {name for name, field in known.items() if field.default is field.default_factory is dataclasses.MISSING}
    if not isinstance(row, dict) or not needed <= row.keys() <= known.keys():
        raise ValueError(f"no record has the fields of {row}")
    return Record(**row)


def read(path: Path | str) -> list[Record]:
    """Return the records of a file; a last line that was cut off is left out.

    Raises
    ------
    CourseError
        Names the line that is no record.
    """
    found, lines = [], Path(path).read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                found.append(_record(json.loads(line)))
        except ValueError:
            if number == len(lines):         # no newline behind it: the sweep was ended while it wrote
                break
            raise CourseError(f"{path}, line {number} is no record of a sweep: {line[:60]}", path=str(path), line=number) from None
    return found
