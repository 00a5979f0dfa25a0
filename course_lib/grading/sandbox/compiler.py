"""The compiler, in a process that sees nothing but NVIDIA's headers, so that no spelling of `#include` opens anything else."""

import ctypes
import multiprocessing
import os
import sys
from dataclasses import replace
from typing import BinaryIO, Protocol

from course_lib.errors import CourseError
from course_lib.toolchain import Compiled, CompileError, nvrtc
from course_lib.toolchain.headers import include_directories
from course_lib.toolchain.request import Request

NEW_USER_NAMESPACE = 0x10000000      # CLONE_NEWUSER of Linux
# __TIME__: what depends on it is never answered from the disk, and the compiler loads the rest of itself.
_WARM_UP = 'extern "C" __global__ void warm_up(float* x, const char** day) { *x = sinf(*x); *day = __TIME__; }'


class Answer(Protocol):
    """Compile as `nvrtc.answer` does."""

    def __call__(self, request: Request) -> Compiled: ...


def start_compiler(headers: str, *inherited: BinaryIO) -> Answer:
    """Fork the process that compiles; return a function for `nvrtc.answer`."""
    here, there = multiprocessing.Pipe()
    if os.fork() == 0:
        here.close()
        for file in inherited:
            os.close(file.fileno())
        try:
            _compile_for(there, headers)
        finally:
            os._exit(1)
    there.close()
    _receive(here)

    def answer(request):
        here.send(request)
        return _receive(here)

    return answer


def _receive(connection):
    """Return what the compiler answers; when it ended, end too: the caller starts anew with the next part."""
    try:
        reply = connection.recv()
    except (EOFError, OSError):
        sys.exit("the compiler ended without a word")
    if isinstance(reply, Exception):
        raise reply
    return reply


def _compile_for(connection, headers):
    """Answer requests for ever, with nothing but `headers` in the file system once the compiler is loaded."""
    try:
        for arch in ("sm_90", "compute_90"):
            nvrtc.compile_here(Request(_WARM_UP, "warm_up.cu", arch))
        include_directories(nvrtc.nvrtc_version()[0])        # cached from here on: soon the wheels cannot be asked where their headers are
        if headers:
            _see_only(headers)
        connection.send("ready")
    except Exception as error:
        connection.send(CourseError(f"the compiler's own sandbox cannot be made: {error}"))
    while True:
        request = connection.recv()
        try:
            connection.send(nvrtc.compile_here(request))
        except CompileError as error:
            connection.send(without_other_files(error, request))
        except Exception as error:
            connection.send(CourseError(str(error)))


def _see_only(folder):
    """Make a folder the whole file system of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER_NAMESPACE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.chroot(folder)
    os.chdir("/")


def without_other_files(error: CompileError, request: Request) -> CompileError:
    """Return a compiler's error without what it says about files other than the submitted text.

    >>> from course_lib.toolchain import Diagnostic
    >>> log = 'k.cu(1): error: missing'
    >>> found = (Diagnostic(7, "error", "secret", "seed = 5;", file="/seed"), Diagnostic(1, "error", "missing", "", file="k.cu"))
    >>> error = CompileError.from_diagnostics("k.cu", found, log)
    >>> [(d.line, d.message) for d in without_other_files(error, Request("x", "k.cu", "sm_90")).diagnostics]
    [(None, 'an included file does not compile'), (1, 'missing')]
    """
    found = tuple(d if d.file in (None, request.name) else
                  replace(d, line=None, message="an included file does not compile", source_line="", column=None, file=None)
                  for d in error.diagnostics)
    return CompileError.from_diagnostics(request.name, tuple(dict.fromkeys(found)), "")
