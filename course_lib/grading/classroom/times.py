"""When something was submitted: times in names, in archives, and in the file that nbgrader's exchange leaves beside a notebook."""

import re
import zipfile
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from course_lib.errors import CourseError
from course_lib.grading.classroom import plain
from course_lib.grading.classroom.folders import Classroom


def of_member(info: zipfile.ZipInfo, zone: tzinfo) -> datetime:
    """Return the time of a zip file's member, in UTC; archives name no zone."""
    try:
        year, month, day, hour, minute, second = info.date_time
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC).replace(microsecond=0)


def read_time(text: str, zone: tzinfo | None) -> datetime:
    """Return a time from a name, in UTC; `zone` is for those that name none.

    >>> [read_time(t, UTC).isoformat() for t in ("2030-11-20-10-11-12", "2030-11-20 10:11:12 UTC", "20301120T101112+0100")]
    ['2030-11-20T10:11:12+00:00', '2030-11-20T10:11:12+00:00', '2030-11-20T09:11:12+00:00']
    >>> read_time("yesterday", UTC)
    Traceback (most recent call last):
    course_lib.errors.CourseError: 'yesterday' is no time
    """
    digits = re.match(r"(\d{4})-?(\d\d)-?(\d\d)[T _-](\d\d)[:.-]?(\d\d)[:.-]?(\d\d)(?:\.\d+)? ?(.*)", text, re.IGNORECASE)
    if not digits:
        raise CourseError(f"{text!r} is no time")
    try:
        if digits[7].upper() in ("Z", "UTC"):
            zone = UTC
        elif digits[7]:
            zone = datetime.strptime(digits[7], "%z").tzinfo
        year, month, day, hour, minute, second = map(int, digits.groups()[:6])
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except ValueError:
        raise CourseError(f"{text!r} is no time") from None


def stamp(path: Path) -> datetime | None:
    """Return the time in the timestamp.txt that nbgrader's exchange leaves beside a notebook, or None."""
    try:
        text = plain.read(path.parent, path.with_name("timestamp.txt"), 60).data[:60]
        return read_time(text.decode("utf-8").strip(), UTC)
    except (CourseError, UnicodeDecodeError):
        return None


def zone_of(classroom: Classroom) -> ZoneInfo:
    """Return the zone of times that name none."""
    name = classroom.rules().get("zone", "UTC")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise CourseError(f"grading/class.toml: zone = {name!r} is no time zone; Europe/Vienna is one") from None
