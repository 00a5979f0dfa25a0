"""When something was submitted: times in the names that platforms give, in archives, and in the file that collecting leaves."""

import re
import zipfile
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom


def of_member(info: zipfile.ZipInfo, zone: tzinfo) -> datetime:
    """Return the time of a zip file's member, in UTC; archives name no zone."""
    try:
        year, month, day, hour, minute, second = info.date_time
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
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
    except (ValueError, OverflowError):
        raise CourseError(f"{text!r} is no time") from None


def read_date(text: str, zone: tzinfo | None) -> datetime | None:
    """Return a time as Brightspace writes it, in UTC, or None.

    >>> [read_date(t, UTC).isoformat() for t in ("Nov 20, 2030 1011 AM", "November 20, 2030 9:05 PM", "Nov 20, 2030 905 PM")]
    ['2030-11-20T10:11:00+00:00', '2030-11-20T21:05:00+00:00', '2030-11-20T21:05:00+00:00']
    """
    match = re.fullmatch(r"([A-Za-z]{3})[a-z]* (\d{1,2}), (\d{4}) (\d{1,2}):?(\d\d) ?([AP]M)", text, re.IGNORECASE)
    try:
        return datetime.strptime(" ".join(match.groups()), "%b %d %Y %I %M %p").replace(tzinfo=zone).astimezone(UTC) if match else None
    except (ValueError, OverflowError):
        return None


def stored(path: Path) -> datetime | None:
    """Return the time in a timestamp.txt that collecting wrote, or None when there is none that can be read."""
    try:
        time = datetime.fromisoformat(path.read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None
    return time if time.tzinfo else None


def zone_of(classroom: Classroom) -> ZoneInfo:
    """Return the zone of times that name none."""
    name = classroom.rules().get("zone", "UTC")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise CourseError(f"grading/class.toml: zone = {name!r} is no time zone; Europe/Vienna is one") from None
