"""Find the C compiler of the reader's machine, and which of the wished-for options it takes.

A compiler counts as found when a library that it made was loaded and gave the right answer.
"""

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError

NAMES = ("cc", "gcc", "clang")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
PATIENCE = 60         # seconds for one compilation
BASE = ("-std=c11", "-O3", "-shared", *(() if sys.platform == "win32" else ("-fPIC", "-pthread")))
# Each is taken only where the compiler knows it. ISO C11 would forbid fused multiply-add, hence -ffp-contract.
WISHED = (("-march=native", "-mcpu=native"), ("-ffp-contract=fast",), ("-Wl,-z,defs",))
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror=implicit-function-declaration")
# GCC may swap loops and unroll outer ones; a program that shows what an order of loops costs must keep its order.
AS_WRITTEN = (("-fno-loop-interchange",), ("-fno-loop-unroll-and-jam",))
_TRIAL = "int answer(void) { return 42; }\n"
_OPENMP_TRIAL = """#include <omp.h>
int answer(void) {
    int sum = 0;
    #pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 21;
    return omp_get_max_threads() > 0 && (sum == 42 || sum == 21) ? 42 : 0;
}
"""


@dataclass(frozen=True)
class HostCompiler:
    """A C compiler that works.

    Attributes
    ----------
    command
        How it is called.
    version
        The first line of what it says about itself.
    options
        What every program is compiled with.
    as_written
        Further options that keep the compiler from reordering loops; empty when it knows none of them.
    """

    command: tuple[str, ...]
    version: str
    options: tuple[str, ...] = field(repr=False)
    as_written: tuple[str, ...] = field(repr=False)

    def openmp(self) -> tuple[str, ...]:
        """Return the options for OpenMP.

        Raises
        ------
        CourseError
            When the compiler has none, as Apple's.
        """
        if not _openmp_works(self):
            raise CourseError(f"{self.version} cannot build OpenMP programs: gemm_pthreads does the same without, "
                              f"or {_openmp_advice()}", compiler=self.command)
        return ("-fopenmp",)

    def compile(self, source: str, target: Path, options: Sequence[str] = (), name: str = "program.c") -> tuple[bool, str]:
        """Compile a C text into a shared library at `target`; return (succeeded, what the compiler said)."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.c").write_text(_line(name) + source, encoding="utf-8")
            command = [*self.command, *self.options, *options, "program.c", "-o", str(target)]
            return run_compiler(command, folder)


def host_compiler() -> HostCompiler:
    """Return the C compiler: $CC when it is set, else the first of cc, gcc and clang that works.

    Raises
    ------
    CourseError
        When there is none, with how to get one; or when $CC does not work.
    """
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


def no_compiler() -> str:
    """Return why no C program can be built here, or "" when one can.

    >>> no_compiler() == "" or "C compiler" in no_compiler()
    True
    """
    try:
        host_compiler()
    except CourseError as error:
        return str(error)
    return ""


@functools.cache
def _find(wanted, path):
    """Find a compiler; the arguments are what the answer depends on, and a failure is not cached."""
    tried: list[tuple[str, str]] = []
    if wanted.strip():
        command = tuple(shlex.split(wanted, posix=sys.platform != "win32"))
        compiler, reason = _examine(command, tried)
        if compiler is None:
            raise CourseError(f"the environment variable CC names {wanted!r} as C compiler, but {reason}: "
                              "unset it, or name one that works", tried=tuple(tried))
        return compiler
    for name in NAMES:
        if found := shutil.which(name, path=path):
            compiler, _ = _examine((found,), tried)
            if compiler:
                return compiler
    raise CourseError(_nothing_works(tried) if tried else _nothing_there(path), tried=tuple(tried))


def _examine(command, tried):
    """Return (compiler, None) or (None, why not)."""
    if Path(command[0]).stem.lower() in ("cl", "clang-cl"):
        return None, "Microsoft's cl has neither C11's vectors nor POSIX threads"
    if shutil.which(command[0]) is None:
        return None, "there is no such program"
    bare = HostCompiler(command, "", BASE, ())
    _, said = run_compiler([*command, "--version"])
    version = next((line.strip() for line in said.splitlines() if line.strip()), command[0])
    works, reason = _try(bare)
    tried.append((" ".join(command), reason))
    if not works:
        return None, f"it does not work ({reason})"
    options = BASE + _taken(bare, WISHED)
    return HostCompiler(command, version, options + WARNINGS, _taken(bare, AS_WRITTEN)), None


def _taken(compiler, wishes):
    """Return, of each wish, the first spelling that the compiler takes."""
    all_first = tuple(spellings[0] for spellings in wishes)
    if _try(compiler, all_first)[0]:          # the usual case costs one compilation
        return all_first
    found = (next((one for one in spellings if _try(compiler, (one,))[0]), None) for spellings in wishes)
    return tuple(one for one in found if one)


def _try(compiler, options=(), source=_TRIAL):
    """Compile, load and call a tiny program; return (whether it answered, why not)."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder, f"trial-{uuid.uuid4().hex}{SUFFIX}")
        succeeded, said = compiler.compile(source, target, ("-Werror", *options))
        if not succeeded:
            return False, said.strip().splitlines()[-1] if said.strip() else "it gave no library"
        try:
            answer = ctypes.CDLL(str(target)).answer()
        except (OSError, AttributeError) as error:
            return False, f"what it makes cannot be loaded: {error}"
    return answer == 42, "what it makes gives a wrong answer"


@functools.cache
def _openmp_works(compiler):
    return _try(compiler, ("-fopenmp",), _OPENMP_TRIAL)[0]


def run_compiler(command: Sequence[str], folder: str | Path | None = None) -> tuple[bool, str]:
    """Run a compiler with English messages; return (succeeded, output). It reads nothing and ends in time."""
    environment = os.environ | {"LC_ALL": "C", "LANGUAGE": "C"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return False, f"it did not end within {PATIENCE} s"
    except OSError as error:
        return False, error.strerror or str(error)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def _line(name):
    """Return the directive after which the compiler calls the text by its own name, from line 1."""
    quoted = str(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{quoted}"\n'


def _nothing_there(path):
    if shutil.which("cl", path=path):
        return ("the only C compiler here is Microsoft's cl, which has neither C11's vectors nor POSIX threads: "
                "run the C programs in WSL 2")
    return f"no C compiler is found ({', '.join(NAMES)}): {_advice()}"


def _nothing_works(tried):
    command, reason = tried[0]
    return f"the C compiler {command} does not work ({reason}): {_advice()}"


def _advice():
    if sys.platform == "darwin":
        return "run `xcode-select --install`"
    if sys.platform == "win32":
        return "run the C programs in WSL 2"
    return "install one, `sudo apt install gcc` on Debian and Ubuntu or `conda install c-compiler`"


def _openmp_advice():
    if sys.platform == "darwin":
        return "install GCC with `brew install gcc` and set the environment variable CC to its name, gcc-15 or so"
    return "set the environment variable CC to a GCC"
