"""Files that outlive a process: what compilers made, stored under a name that says what it was made from.

Any number of processes share the folder. A file is complete or not there, begins with a checksum, and the oldest go first.
"""

import contextlib
import hashlib
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

CACHE_BYTES = 384 << 20  # of the disk cache; the oldest objects go first
KINDS = (".o", ".nvrtc", ".sass")  # endings of the files that are ours
CHECKSUM_BYTES = 32  # before the content of each file
HALF_WRITTEN_SECONDS = 3600  # age at which a file that was never finished is deleted
VERSION = "2"
_written = {"bytes": CACHE_BYTES}  # since the folder was last trimmed; the first write of a process trims


def cache_base() -> Path:
    """Return the folder for all that is made once: $COURSE_CACHE, or the user's cache folder."""
    return Path(os.environ.get("COURSE_CACHE") or os.path.join(
        os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "warp-by-warp"
    ))


def cache_folder() -> Path:
    """Return the folder for compiled objects."""
    return cache_base() / f"simt-{VERSION}"


def object_path(key: str, kind: str = "o") -> Path:
    """Return the path of what is stored under `key`, whether it is there or not; `kind` is the file's ending."""
    return cache_folder() / key[:2] / f"{key}.{kind}"


def cached_object(key: str, produce: Callable[[], bytes]) -> bytes:
    """Return object code for `key` from the disk, or make it with `produce()` and store it.

    Safe with several processes: a file appears under its name complete or not at all. It begins with a checksum of the rest
    and its name, so that a damaged or foreign file is made anew and never run.
    """
    path = object_path(key)
    data = read_object(path)
    if data is None:
        data = produce()
        store_object(path, data)
    return data


def checksum(path: Path, data: bytes) -> bytes:
    """Return what a file begins with: a hash of its name and of the rest."""
    return hashlib.sha256(path.name.encode() + data).digest()


def read_object(path: Path) -> bytes | None:
    """Return what `store_object` wrote, or None when it is not there or not whole. Marks the file as used."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    data = raw[CHECKSUM_BYTES:]
    if raw[:CHECKSUM_BYTES] != checksum(path, data):
        return None
    with contextlib.suppress(OSError):  # somebody else's folder may be read, not marked
        os.utime(path)
    return data


def store_object(path: Path, data: bytes) -> None:
    """Store a file in one step; a read-only or full disk costs time at the next launch, nothing else."""
    part = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(checksum(path, data) + data)
        os.replace(part, path)
    except OSError:
        return
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    _written["bytes"] += len(data)
    if _written["bytes"] > CACHE_BYTES // 16:  # looking at every file takes time: not after each write
        _written["bytes"] = 0
        trim()


def trim() -> None:
    """Delete the least recently used objects, of whatever version, beyond CACHE_BYTES, and what killed processes left half written."""
    files = []
    for path in cache_folder().parent.glob("simt-*/*/*.*"):
        with contextlib.suppress(OSError):  # another process may have been quicker
            facts = path.stat()
            if path.suffix in KINDS:
                files.append((facts.st_mtime, facts.st_size, path))
            elif path.suffix == ".part" and facts.st_mtime < time.time() - HALF_WRITTEN_SECONDS:
                path.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= CACHE_BYTES:
            break
        total -= size
        with contextlib.suppress(OSError):
            path.unlink()
