"""The precompiled archive: what NVRTC made of this course's texts, for machines that cannot have NVRTC, such as Macs.

`precompiled.zip` holds `index.json`, and for each group of related texts PTX and facts (`GROUP.json`) and the text of the machine
code (`GROUP.sass.json`), each compressed by itself, so that a look-up reads one group. `python -m tools precompiled` makes it, a release
publishes it, and it is fetched once, with its checksum. Nothing else reads it: where NVRTC can be loaded, NVRTC is asked.
"""

import functools
import json
import lzma
import os
import threading
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.toolchain.code_stand_in import CodeStandIn
from course_lib.toolchain.disk import cache_base
from course_lib.toolchain.request import Request, source_hash

FILE_NAME = "precompiled.zip"
BUNDLED = Path(__file__).with_name(FILE_NAME)                   # in the zip file that an instructor gives to students
_fetching = threading.Lock()
RELEASED = Path(__file__).with_name("precompiled.json")         # {"url", "sha256"} of the latest release; written when one is made


@dataclass(frozen=True)
class ArchivedCode(CodeStandIn):
    """Machine code of which the archive has the text; `request` says what to compile for the cubin itself."""

    key: tuple[str, str]
    request: Request

    def resources(self) -> dict[str, dict[str, Any]]:
        return entry(self.key)["resources"]

    def sass(self) -> dict[str, str]:
        return _at(self.key, ".sass.json")


def archive_file() -> Path:
    """Return the archive: the file that $COURSE_PRECOMPILED names, the one in a students' bundle, or the release's, fetched once.

    Raises
    ------
    CourseError
        When there is none and none can be fetched: one sentence on what to do.
    """
    named = os.environ.get("COURSE_PRECOMPILED")
    if named:
        if not Path(named).is_file():
            raise CourseError(f"COURSE_PRECOMPILED names {named}, and there is no such file: download {FILE_NAME} from the course's "
                              "releases, and let the variable name it", path=named)
        return Path(named)
    return BUNDLED if BUNDLED.is_file() else _fetched()


def _fetched():
    """Return the release's archive from the user's cache, downloaded and compared with its checksum the first time."""
    try:
        said = json.loads(RELEASED.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(
            f"the precompiled archive that stands in for it is missing: download {FILE_NAME} from the course's releases, or make it with "
            f"`make precompiled` on Linux, and put it into {BUNDLED.parent}") from None
    folder = cache_base()
    there = folder / f"{said['sha256'][:16]}-{FILE_NAME}"
    if there.is_file():                          # compared when it was downloaded, and complete or not there
        return there
    import pooch  # here alone, for most machines never need it

    try:
        with _fetching:
            return Path(pooch.retrieve(said["url"], known_hash=f"sha256:{said['sha256']}", fname=there.name, path=folder, progressbar=True))
    except (OSError, ValueError) as error:       # no network or disk; another checksum
        raise CourseError(f"the precompiled archive could not be downloaded from {said['url']} ({error}): try again with a network, or "
                          f"download it in a browser and put it into {BUNDLED.parent}", url=said["url"]) from None


def index() -> dict[str, Any]:
    """Return what the archive says of itself: "nvrtc", "architectures", "options", and "groups": group -> its keys, in order."""
    return _member(archive_file(), "index.json")


def find(key: tuple[str, str]) -> tuple[str, int] | None:
    """Return (group, number in the group) of a key, or None."""
    file = archive_file()
    return _positions(file, file.stat().st_mtime_ns).get(tuple(key))


def knows(text: str) -> bool:
    """Tell whether a text is in the archive, with any options."""
    file, digest = archive_file(), source_hash(text)
    return any(source == digest for source, _ in _positions(file, file.stat().st_mtime_ns))


def entry(key: tuple[str, str]) -> dict[str, Any]:
    """Return what is known of a key: "ptx", "log", "ptxas_log", "resources", or "status", "log", "ptx" of a refusal.

    Raises
    ------
    KeyError
    """
    return _at(key, ".json")


def _at(key, ending):
    found = find(key)
    if found is None:
        raise KeyError(key)
    group, number = found
    return _member(archive_file(), group + ending)[number]


def _member(file, name):
    return _read(file, file.stat().st_mtime_ns, name)


@functools.lru_cache(maxsize=16)
def _read(file, written_ns, member):
    """Return a member, unpacked; `written_ns` is part of the cache's key, so that a new file is read anew."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _unpacked(archive.read(member))
    except (zipfile.BadZipFile, lzma.LZMAError, KeyError) as error:
        raise CourseError(f"{file} is damaged ({error}): delete it and download it again", path=str(file)) from None


@functools.lru_cache(maxsize=2)
def _positions(file, written_ns):
    groups = _read(file, written_ns, "index.json")["groups"]
    return {tuple(key): (group, number) for group, keys in groups.items() for number, key in enumerate(keys)}


def packed(value: object) -> bytes:
    """Return a value as the archive's members hold it."""
    return lzma.compress(json.dumps(value, ensure_ascii=False).encode(), preset=9)


def _unpacked(data):
    return json.loads(lzma.decompress(data))
