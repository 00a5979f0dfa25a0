"""The file of a sweep: a record a line, written as soon as it is there, so that a sweep can go on where it was stopped."""

import json
import os
from pathlib import Path

from course_lib.data.records import Record, as_row
from course_lib.errors import CourseError

FINAL = ("done", "skipped")


class Journal:
    """The records of a sweep in a JSON-lines file, or in memory alone.

    Parameters
    ----------
    path : Path or str, optional
    resume : bool
        Keep what the file holds; otherwise a file that is there is refused.

    Raises
    ------
    CourseError
        For a file that is there, or that holds something else.
    """

    def __init__(self, path=None, resume=False):
        self.path, self.records = (Path(path) if path else None), []
        if self.path and self.path.exists():
            if not resume:
                raise CourseError(f"{self.path} is there already: go on with it by resume=True (--resume), or take another file",
                                  path=str(self.path))
            self.records = read(self.path)

    def done(self, tasks, device=None):
        """Return the record of each task that needs no second measurement: task's identity -> record.

        A record counts when the kernel's text is still the same, when it did not fail, and when it is from `device` (None: any).
        """
        wanted = {t.identity: t.source for t in tasks}
        return {r.identity: r for r in self.records
                if r.identity in wanted and r.source == wanted[r.identity] and r.state in FINAL
                and (device is None or r.state == "skipped" or r.device == device)}

    def start(self, tasks, done):
        """Drop the records that are to be measured again, and a last line that was not finished."""
        again = {t.identity for t in tasks} - set(done)
        self.records = [r for r in self.records if r.identity not in again]
        self._rewrite()

    def add(self, record):
        """Keep one record, on the disk at once."""
        self.records.append(record)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(record))

    def finish(self, order):
        """Put the records in the order of these identities, behind those of other sweeps."""
        place = {identity: i for i, identity in enumerate(order)}
        self.records.sort(key=lambda r: place.get(r.identity, -1))
        self._rewrite()

    def _rewrite(self):
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
            beside.write_text("".join(map(_line, self.records)), encoding="utf-8")
            beside.replace(self.path)


def _line(record):
    return json.dumps(as_row(record), ensure_ascii=False) + "\n"


def read(path):
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
                found.append(Record(**json.loads(line)))
        except (ValueError, TypeError):
            if number == len(lines):         # no newline behind it: the sweep was ended while it wrote
                break
            raise CourseError(f"{path}, line {number} is no record of a sweep: {line[:60]}", path=str(path), line=number) from None
    return found
