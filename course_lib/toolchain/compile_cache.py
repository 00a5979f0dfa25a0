"""What NVRTC made of a text, cached on disk: a later process, or one that works ahead of the reader, need not ask it again.

A text that includes files other than NVIDIA's headers is compiled each time, as only the compiler knows which files those are.
"""

import functools
import hashlib
import importlib.metadata
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from course_lib.toolchain import disk
from course_lib.toolchain.headers import header_wheels
from course_lib.toolchain.request import without_comments

COMPILERS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "cuda-bindings")
KIND = "nvrtc"                              # the ending of the files
REFUSED = "NVRTC_ERROR_COMPILATION"         # the one failure that the same text always has
_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<[\w./]+>[ \t]*$", re.MULTILINE)        # found in NVIDIA's wheels or nowhere
_ELSEWHERE = re.compile(r"include|__DATE__|__TIME|import|embed")     # what a text may depend on besides itself


def cached_compilation(compile_now: Callable[[], tuple[dict[str, str], bytes]], source: str, name: str, arch: str, options: tuple[str, ...],
                  version: tuple[int, int], key: tuple[str, str]) -> tuple[dict[str, str], bytes]:
    """Return (what NVRTC told, machine code) from the disk, or ask with `compile_now()` and store the answer.

    Parameters
    ----------
    compile_now : callable() -> (dict of JSON values, bytes)
        A refusal has the key "status".
    source, name, arch, options, version
        What the answer depends on, besides the wheels that bring NVRTC and its headers.
    key
        `Request.key`, which is written with the answer, for `stored_compilations`.
    """
    makers: tuple[Any, ...] = (compiler_version(), _own_hash())
    if None in makers or not stands_alone(source, options):
        return compile_now()
    if _HEADER.search(without_comments(source)):
        makers += (_versions(header_wheels(version[0])),)
    parts = ("nvrtc", source, name, arch, options, version, *makers)
    path = disk.object_path(hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest(), KIND)
    data = disk.read_object(path)
    if data is not None:
        _, told, cubin = _unpacked(data)
        return told, cubin
    found, cubin = compile_now()
    if found.get("status", REFUSED) == REFUSED:
        disk.store_object(path, zlib.compress(json.dumps([key, found]).encode() + b"\n" + cubin, 1))
    return found, cubin


def stored_compilations() -> Iterator[tuple[tuple[str, str], dict[str, str], bytes]]:
    """Yield (key of the request, what NVRTC told, machine code) of everything that is on the disk, whatever process asked."""
    for path in sorted(disk.cache_folder().glob(f"*/*.{KIND}")):
        data = disk.read_object(path)
        if data is not None:
            yield _unpacked(data)


def _unpacked(data):
    told, _, cubin = zlib.decompress(data).partition(b"\n")
    key, found = json.loads(told)
    return tuple(key), found, cubin


@functools.cache
def compiler_version() -> tuple[tuple[str, str], ...] | None:
    """Return the versions of the wheels that bring NVRTC, or None when it comes from somewhere else."""
    found = _versions(COMPILERS)
    return found if len(found) > 1 else None


@functools.cache
def _versions(wheels):
    found = {}
    for name in wheels:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found.items())


def stands_alone(text: str, options: Sequence[str] = ()) -> bool:
    """Say whether the same text and options always compile to the same, with the same wheels of NVIDIA's.

    >>> stands_alone("__global__ void f() {}  // important", ("-DN=4",)), stands_alone("#include <mma.h>")
    (True, True)
    >>> stands_alone('#include "tile.cuh"'), stands_alone("int x;", ("-I/include",))
    (False, False)
    """
    given = " ".join(options)
    return not _ELSEWHERE.search(_HEADER.sub("", without_comments(text)) + given) and not re.search(r"(^|\s)(-I|-opt|@)", given)


@functools.cache
def _own_hash():
    """Return a hash of the files that decide what is taken from the compiler's answer; None where they cannot be seen."""
    files = (Path(__file__), Path(__file__).with_name("nvrtc.py"))
    try:
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
    except OSError:                                 # in the sandbox of the grader's compiler
        return None
