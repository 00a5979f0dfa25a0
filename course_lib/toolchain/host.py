"""C programs on the reader's own machine: compile to a shared library, cache it on disk, load it, call it with arrays."""

import ctypes
import functools
import hashlib
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.toolchain.diagnostics import CompileError, Diagnostic
from course_lib.toolchain.disk import cache_base
from course_lib.toolchain.host_compiler import SUFFIX, host_compiler
from course_lib.toolchain.source_text import check_text, define_options

VERSION = "1"
CACHE_BYTES = 64 << 20     # of libraries on disk; the oldest go first
_MESSAGE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<severity>fatal error|error|warning|note): "
                      r"(?P<message>.*)")
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<gnu>\w+)'|undefined symbol: (?P<lld>\w+)|\"_(?P<apple>\w+)\", referenced from")


@dataclass(frozen=True)
class HostProgram:
    """A shared library made from one C text.

    Attributes
    ----------
    name
        What the text is called.
    compiler
        The compiler's version line.
    options
        What it was called with.
    """

    name: str
    path: Path
    compiler: str
    options: tuple[str, ...] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = field(repr=False)

    def function(self, name: str, *arguments: Any, result: Any = None) -> Callable[..., Any]:
        """Return a function of the library; ctypes types of its arguments and result. Python's lock is released inside.

        Raises
        ------
        CourseError
            When the library cannot be loaded or has no such function.
        """
        library, prototype = _load(str(self.path)), ctypes.CFUNCTYPE(result, *arguments)
        try:
            return prototype((name, library))
        except AttributeError:                      # ctypes says so of a symbol that is not exported
            raise CourseError(f"{self.name} has no function {name} that others may call: "
                              "is it spelled so, and not static?", name=name) from None


def compile_c(source: str, *, name: str = "program.c", defines: Mapping[str, int | str] | None = None, options: Sequence[str] = (),
              openmp: bool = False, as_written: bool = False, texts: Mapping[str, str] | None = None) -> HostProgram:
    """Compile C11 for this machine into a shared library.

    The same request again is answered from disk. Safe with several threads and several processes.

    Parameters
    ----------
    source
        C text.
    name
        What messages call it.
    defines
        Macros, passed with -D.
    options
        Further options of the compiler.
    openmp, as_written
        Turn OpenMP on; keep the compiler from swapping loops.
    texts
        For a source put together with #line: what each name in it stands for, so that messages can show the line.

    Raises
    ------
    CompileError
        When the compiler refuses the text; holds its messages with the reader's own line numbers.
    CourseError
        When there is no compiler, or none that can do OpenMP.
    """
    check_text(source, name, "C")
    macros = tuple(define_options(defines or {}))
    compiler = host_compiler()
    extra = (*(compiler.openmp() if openmp else ()), *(compiler.as_written if as_written else ()),
             *macros, *options)
    path = cache_folder() / f"{_key(source, name, compiler, extra)}{SUFFIX}"
    said = _stored(path)
    if said is None:
        path, said = _build(compiler, source, name, extra, path, texts or {name: source})
    found = parse_c_log(said, texts or {name: source})
    return HostProgram(name, path, compiler.version, compiler.options + extra, tuple(d for d in found if d.severity == "warning"))


def _build(compiler, source, name, extra, path, texts):
    """Compile to a file beside `path` and give it that name when it is complete."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(f"the folder for compiled programs, {path.parent}, cannot be made ({error.strerror}): "
                          "set the environment variable COURSE_CACHE to one that can be written") from None
    part = path.with_name(f"{uuid.uuid4().hex}.part{SUFFIX}")
    try:
        succeeded, said = compiler.compile(source, part, extra, name)
        if not succeeded:
            raise _failure(name, said, texts)
        part.with_suffix(".log").write_text(f"{_digest(part)}\n{said}", encoding="utf-8")
        os.replace(part.with_suffix(".log"), path.with_suffix(".log"))
        os.replace(part, path)          # the library comes last: where it is, its log is
    except OSError as error:
        raise CourseError(f"the compiled program cannot be stored in {path.parent} ({error.strerror}): "
                          "set the environment variable COURSE_CACHE to a folder that can be written") from None
    finally:
        for left in (part, part.with_suffix(".log")):
            left.unlink(missing_ok=True)
    _trim(path.parent)
    return path, said


def _failure(name, said, texts):
    found = parse_c_log(said, texts)
    if any(d.severity == "error" for d in found):
        return CompileError.from_diagnostics(name, found, said)
    missing = sorted({m["gnu"] or m["lld"] or m["apple"] for m in _UNDEFINED.finditer(said)})
    if missing:
        message = f"{', '.join(missing)}: called, but defined nowhere"
        return CompileError.from_diagnostics(name, (Diagnostic(None, "error", message, ""),), said)
    last = (said.strip().splitlines() or ["the compiler said nothing"])[-1]
    return CompileError.from_diagnostics(name, (Diagnostic(None, "error", last[:500], ""),), said)


def parse_c_log(log: str, texts: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Read the messages of GCC or Clang.

    Parameters
    ----------
    texts
        Name to text, for the lines that messages are about.

    >>> parse_c_log("k.c:2:5: error: expected ';' before '}' token", {"k.c": "{\\n  x}"})[0].source_line
    '  x}'
    """
    found = []
    for line in log.splitlines():
        if not (match := _MESSAGE.fullmatch(line)):
            continue
        number, given = int(match["line"]), texts.get(match["file"], "")
        text, said = given.split("\n"), match["message"]
        if given and number > len(text):        # about what follows the reader's text: its last line is what the reader can mend
            number, said = given.rstrip().count("\n") + 1, re.sub(r" before '}' token$", " at the end of this line", said)
        own = text[number - 1].rstrip() if number <= len(text) else ""
        column = int(match["column"] or 0) if number == int(match["line"]) else 0
        exact = own.isascii() and "\t" not in own and 0 < column <= len(own) + 1       # else compilers count differently
        found.append(Diagnostic(number, match["severity"].split()[-1], said, own,
                                column if exact else None, match["file"]))
    return tuple(found)


def cache_folder() -> Path:
    """Return the folder for compiled programs: under $COURSE_CACHE, or the user's cache folder."""
    return cache_base().absolute() / f"host-{VERSION}"


def _stored(path):
    """Return what the compiler said when it made this library, or None when there is none that loads."""
    try:
        digest, _, said = path.with_suffix(".log").read_text(encoding="utf-8").partition("\n")
        if digest != _digest(path):     # damaged; to load half a library would end this process
            return None
        os.utime(path)
        _load(str(path))
        return said
    except (OSError, ValueError, CourseError):
        return None


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.lru_cache(maxsize=256)
def _load(path):
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise CourseError(f"the compiled program cannot be loaded ({error}): is {Path(path).parent} on a disk "
                          "that forbids programs? COURSE_CACHE names another folder", path=path) from None


def _key(*parts):
    """Name a library by all that it depends on: text, options, compiler, and this CPU (a home may be shared)."""
    import llvmlite.binding as llvm  # here, so that compiling CUDA needs no LLVM

    machine = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return hashlib.sha256("\0".join(map(repr, machine + parts)).encode()).hexdigest()[:40]


def _trim(folder):
    """Delete the least recently used libraries beyond CACHE_BYTES; another process may do the same."""
    files = []
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            files.append((path.stat().st_mtime, path.stat().st_size, path))
        except OSError:
            continue
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= CACHE_BYTES:
            return
        path.unlink(missing_ok=True)
        path.with_suffix(".log").unlink(missing_ok=True)
        total -= size
