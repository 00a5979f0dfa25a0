"""What runs inside the sandbox: check the kernels of one submission and write a line of JSON for each.

A process of its own compiles. It sees nothing but NVIDIA's headers, so that no spelling of `#include` opens anything else, and it
was made before the seed is known here. The reply goes through a pipe that nothing else in the process holds; what a kernel or the
compiler prints goes nowhere. Called by `sandbox.py`: `python -m course_lib.grading.inside HEADERS GIBIBYTES`, the task on stdin.
"""

import ctypes
import json
import multiprocessing
import os
import resource
import sys
from dataclasses import replace

from course_lib.errors import CourseError
from course_lib.grading.checks import check
from course_lib.grading.exercises import part
from course_lib.toolchain import CompileError, nvrtc
from course_lib.toolchain.shelf import Request

NEW_USER_NAMESPACE = 0x10000000      # CLONE_NEWUSER of Linux
READY = "ready"                      # the first line of the reply: from here on what goes wrong is the kernel's doing
MOST_FILE_BYTES = 64 << 20
LONGEST = 20_000                     # characters of one verdict
# __TIME__: what depends on it is never answered from the disk, and the compiler loads the rest of itself.
_WARM_UP = 'extern "C" __global__ void warm_up(float* x, const char** day) { *x = sinf(*x); *day = __TIME__; }'


def main(headers, gibibytes):
    """Read the task, check each answer, write each result as soon as it is there."""
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for name, value in (("RLIMIT_AS", int(gibibytes) << 30), ("RLIMIT_FSIZE", MOST_FILE_BYTES), ("RLIMIT_CORE", 0)):
        resource.setrlimit(getattr(resource, name), (value, value))
    compiler = _start_compiler(headers, reply)
    reply.write(f"{READY}\n")
    reply.flush()
    task = json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    nvrtc.answer = compiler
    for name, text in task["answers"].items():
        reply.write(json.dumps({"part": name} | judged(text, part(task["exercise"], name), task["seed"])) + "\n")
        reply.flush()


def judged(text, spec, seed):
    """Check one kernel.

    Numbers and sizes that the seed draws stay secret: what the student is told comes from the inputs that everyone sees,
    and only when those pass, in general words, from the drawn ones.

    Returns
    -------
    dict
        passed (bool), kind (of the first finding, or ""), told (str) and html (str) for the student.
    """
    try:
        verdict = check(text, spec, seed=seed)
        shown = check(text, spec)
    except MemoryError:
        return _told(False, "memory", "The kernel needs more memory than grading allows.")
    except Exception as error:
        return _told(False, "launch", f"The check cannot run this kernel: {type(error).__name__}: {error}")
    if shown.passed and not verdict.passed:
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in verdict.findings))
        return _told(False, verdict.findings[0].kind,
                     f"{spec.title}: passed on every input of the exercise, but not on those drawn for grading, which have other sizes "
                     f"and numbers ({kinds}). A kernel must be right for any size that the statement allows, and for any numbers.")
    passed = verdict.passed and shown.passed
    kind = "" if passed else shown.findings[0].kind
    return _told(passed, kind, repr(shown), shown._repr_html_())


def _told(passed, kind, text, html=""):
    def cut(words):
        return words if len(words) <= LONGEST else f"{words[:LONGEST]} …"

    return {"passed": passed, "kind": kind, "told": cut(text), "html": html if len(html) <= LONGEST else ""}


def _start_compiler(headers, *inherited):
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
            nvrtc.answer(Request(_WARM_UP, "warm_up.cu", arch))
        if headers:
            _see_only(headers)
        connection.send("ready")
    except Exception as error:
        connection.send(CourseError(f"the compiler's own sandbox cannot be made: {error}"))
    while True:
        request = connection.recv()
        try:
            connection.send(nvrtc.answer(request))
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


def without_other_files(error, request):
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


if __name__ == "__main__":
    main(*sys.argv[1:])
