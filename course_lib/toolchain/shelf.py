"""What NVRTC made of the course's own texts, shipped in one file: the answer of `compile_cuda` to those.

`shelf.zip` holds `index.json`, and for each group of related texts PTX and facts (`GROUP.json`) and the text of the machine code
(`GROUP.sass.json`), each compressed by itself, so that a look-up reads one group. `tools/shelf.py` writes it.
"""

import functools
import hashlib
import json
import lzma
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError

FILE = Path(__file__).with_name("shelf.zip")
NAME = "kernel.cu"         # what every text on the shelf was called when it was compiled
_COMMENT = re.compile(r"""//(?:[^\\\n]|\\(?!\n))*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)    # and what may hold //
_TELLS_ITS_NAME = re.compile(r"\b(?:assert|__FILE__|__BASE_FILE__)\b|\bnamespace\s*\{")


@dataclass(frozen=True)
class Request:
    """One question to the compiler: a text, what it is called, the architecture, and the options that the caller chose.

    >>> Request("int x;", "a.cu", "sm_90", ("-DN=2", "-DM=1")).key
    ('e13e332bd08e13cb', 'sm_90 -DM=1 -DN=2')
    """

    source: str = field(repr=False)
    name: str
    arch: str
    options: tuple[str, ...] = ()

    @property
    def key(self):
        """Return (hash of the text, what it is compiled for); the name counts only for a text that tells it at run time."""
        named = (self.name,) if _TELLS_ITS_NAME.search(self.source) else ()
        return source_hash(self.source), " ".join((*named, self.arch, *sorted(self.options)))


@dataclass(frozen=True)
class Shelved:
    """Stands in for a cubin that is not here: `resources` and `sass` read on the shelf what they would read in it.

    `request`: what to compile for the cubin itself.
    """

    key: tuple[str, str]
    request: Request | None = field(default=None, compare=False, repr=False)

    def resources(self):
        """Return kernel -> the fields of its `Resources`."""
        return entry(self.key)["resources"]

    def sass(self):
        """Return kernel -> its instructions as `sass.written` writes them."""
        return _at(self.key, ".sass.json")


def source_hash(text):
    """Return the first 16 digits of the SHA-256 of a text without its line comments, which change nothing that comes out.

    >>> source_hash("int x;  // one") == source_hash("int x;"), source_hash("\\n\\nint x;") == source_hash("int x;")
    (True, False)
    """
    code = _COMMENT.sub(lambda found: "" if found[0].startswith("//") else found[0], text)
    return hashlib.sha256(re.sub(r"[ \t]+$", "", code, flags=re.MULTILINE).encode()).hexdigest()[:16]


def index():
    """Return what the shelf says of itself: "nvrtc", "architectures", "options", and "groups": group -> its keys, in order.
    Beside them "wheel" and "disassembler", the versions of the wheels that filled it.

    >>> 90 in index()["architectures"]
    True
    """
    return _read(FILE, _written_ns(), "index.json")


def find(key):
    """Return (group, number in the group) of a key, or None."""
    return _places(FILE, _written_ns()).get(tuple(key))


def knows(text):
    """Tell whether a text is on the shelf, with any options.

    >>> knows("int x;")
    False
    """
    digest = source_hash(text)
    return any(source == digest for source, _ in _places(FILE, _written_ns()))


def entry(key):
    """Return what is known of a key: "ptx", "log", "ptxas_log", "resources", "code", or "status", "log", "ptx" of a refusal.

    Raises
    ------
    KeyError
    """
    return _at(key, ".json")


def _written_ns():
    try:
        return FILE.stat().st_mtime_ns
    except FileNotFoundError:
        raise CourseError(f"{FILE.name}, with what the course's kernels compile to, is missing: `git checkout {FILE.name}` in "
                          f"course_lib/{FILE.parent.name} brings it back", path=FILE) from None


def _at(key, ending):
    place = find(key)
    if place is None:
        raise KeyError(key)
    group, number = place
    return _read(FILE, _written_ns(), group + ending)[number]


@functools.lru_cache(maxsize=16)
def _read(path, written_ns, member):
    """Return a member, unpacked; `written_ns` is part of the cache's key, so that a new file is read anew."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(lzma.decompress(archive.read(member)))


@functools.lru_cache(maxsize=2)
def _places(path, written_ns):
    groups = _read(path, written_ns, "index.json")["groups"]
    return {tuple(key): (group, number) for group, keys in groups.items() for number, key in enumerate(keys)}
