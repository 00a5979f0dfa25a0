"""Tables as platforms and spreadsheets save them: read whatever the encoding and separator, written so that no cell is run as a formula."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError

_FORMULA = re.compile(r'((?:^|[,;|\t\n"])\s*)([=+\-@＝＋－＠])')
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Row:
    """A row with its number as a spreadsheet counts rows."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A file's first row, and the rows below it that have something in them, as long as the first at least."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    separator: str
    marked: bool                    # it began with a byte-order mark


def read_table(path: Path, name: str) -> Table:
    """Return the table in a file of comma, semicolon or tab separated values; UTF-8, UTF-16, or else Windows-1252.

    Parameters
    ----------
    path
        The file.
    name
        What messages call it.

    Raises
    ------
    CourseError
        When it is an Excel workbook or no text, or cannot be read.
    """
    try:
        data = path.read_bytes()
        if data.startswith(b"PK\3\4"):
            raise CourseError(f"{name} is a workbook: save it as CSV and give that file")
        text, marked = _decoded(data)
        if "\0" in text:
            raise CourseError(f"{name} is no text: give the CSV file that the platform exported")
        told = re.match("\"?sep=([,;\t])\"?\r?\n", text)        # a first line for Excel
        text = text[told.end():] if told else text
        separator = told[1] if told else max(",;\t", key=lambda sign: len(next(_reader(text, sign), [])))
        found = [Row(number, tuple(cells)) for number, cells in enumerate(_reader(text, separator), 2 if told else 1) if any(cells)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{name} cannot be read: {error}") from error
    header = found[0].cells if found else ()
    rows = tuple(Row(row.number, row.cells + ("",) * (len(header) - len(row.cells))) for row in found[1:])
    return Table(header, rows, separator, marked)


def _decoded(data):
    """Return the text of some bytes, and whether a byte-order mark came first."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark):].decode(encoding), True
    if 0 in data[:2]:
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be"), False
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("cp1252"), False


def _reader(text, separator):
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """Return a table as CSV in which every text is `harmless`; the column names are written as they are.

    >>> print(to_csv(("a", "b"), [("=1+1", -1)]), end="")
    a,b
    '=1+1,-1
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([harmless(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return file.getvalue()


def harmless(text: str) -> str:
    """Return a text with an apostrophe before each sign that would begin a formula, whatever separator a spreadsheet cuts the line at.

    Line ends become `\\n`, as a lone `\\r` would cut the line without quotes around it.

    >>> harmless("=1+1"), harmless("Ada;=1+1"), harmless("a+b, c-d")
    ("'=1+1", "Ada;'=1+1", 'a+b, c-d')
    """
    return _FORMULA.sub(r"\1'\2", re.sub("\r\n?", "\n", text))
