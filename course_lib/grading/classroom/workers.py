"""Grade on the workers of a Dask cluster: each must have this library, the same versions and a sandbox, or nothing is graded.

A worker only passes a submission on, to a process made for it: time can be limited there, and nothing of it stays behind.
"""

import contextlib
import os
import pickle
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from importlib.metadata import version
from typing import Any, TypedDict

from course_lib.errors import CourseError
from course_lib.grading.sandbox import bubblewrap
from course_lib.toolchain import nvrtc_version

PACKAGES = ("numpy", "llvmlite", "scipy")          # what a verdict is computed with, besides the library and the compiler
SECONDS = 20                                       # for the scheduler to answer


class Facts(TypedDict):
    """What must be the same wherever one class is graded, and why there is no sandbox (or None)."""

    versions: dict[str, str]
    library: str
    problem: str | None


def versions() -> dict[str, str]:
    """Return what a verdict depends on besides the library: name -> version.

    >>> sorted(versions())
    ['NVRTC', 'Python', 'llvmlite', 'numpy', 'scipy']
    """
    return {"Python": platform.python_version(), "NVRTC": ".".join(map(str, nvrtc_version())), **{name: version(name) for name in PACKAGES}}


@contextlib.contextmanager
def dask(address: str, *, unsafe: bool = False) -> Iterator[futures.Executor]:
    """Connect to a Dask scheduler whose workers can all grade.

    Parameters
    ----------
    address
        Such as "tcp://127.0.0.1:8786".
    unsafe
        Take workers without a sandbox too.

    Yields
    ------
    concurrent.futures.Executor

    Raises
    ------
    CourseError
        When nobody answers, there is no worker, or one of them would not grade as this process does.
    """
    demand_address(address)
    with _connected(address) as client:
        demand_equal(facts(), client.run(facts, on_error="return"), unsafe)
        yield IsolatingExecutor(client.get_executor(pure=False))          # otherwise a second try would be the first one's answer


def demand_address(address: str) -> None:
    """Raise `CourseError` when this cannot be a scheduler's address; it would be tried for a long time.

    >>> demand_address("localhost:8786")
    Traceback (most recent call last):
    course_lib.errors.CourseError: 'localhost:8786' is no address of a Dask scheduler, such as tcp://127.0.0.1:8786
    """
    if not re.fullmatch(r"[a-z]+://\S+", address):
        raise CourseError(f"{address!r} is no address of a Dask scheduler, such as tcp://127.0.0.1:8786")


def _connected(address):
    """Return a client of a scheduler."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise CourseError("grading on a Dask cluster needs `pip install -c constraints.txt distributed`") from None
    if address.startswith("tls") and not distributed.Security().tls_client_cert:  # type: ignore[attr-defined]  # it sets this from a table
        raise CourseError(f"{address} wants a certificate: name yours in Dask's configuration (distributed.comm.tls.client)")
    try:
        return distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(f"no Dask scheduler answers at {address} ({error}): start one with `dask scheduler --host 127.0.0.1`") from None


class IsolatingExecutor(futures.Executor):
    """Have what is submitted done in a process of its own, wherever another executor works."""

    def __init__(self, executor: futures.Executor):
        self.executor = executor

    def submit(self, work: Callable, /, *jobs: Any, **options: Any) -> futures.Future:
        """Return a future of `work(job)`."""
        return self.executor.submit(isolated, work, *jobs, **options)


def facts() -> Facts:
    """Return the facts of this process."""
    from course_lib.grading.classroom.grade import library_hash

    return {"versions": versions(), "library": library_hash(), "problem": bubblewrap.problem()}


def demand_equal(here: Facts, there: Mapping[str, Facts | BaseException], unsafe: bool = False) -> None:
    """Raise `CourseError` unless there are workers, and all of them would grade as this process does.

    Parameters
    ----------
    there
        Worker -> its facts, or the exception that came instead.
    unsafe
        A sandbox may be missing.

    >>> demand_equal({}, {})
    Traceback (most recent call last):
    course_lib.errors.CourseError: the Dask cluster has no worker: start some with `dask worker ADDRESS --nthreads 1`
    """
    if not there:
        raise CourseError("the Dask cluster has no worker: start some with `dask worker ADDRESS --nthreads 1`")
    for worker, found in there.items():
        why = _why_not(here, found, unsafe)
        if why:
            raise CourseError(f"nothing was graded: worker {worker} {why}")


def _why_not(here, found, unsafe):
    """Return what a worker has or lacks, or None."""
    if isinstance(found, BaseException):
        return f"cannot load the course's library ({type(found).__name__}: {found}): install it there, as it is here"
    for name, wanted in here["versions"].items():
        if found["versions"].get(name) != wanted:
            return f"has {name} {found['versions'].get(name)}, and here it is {wanted}: install what constraints.txt names"
    if found["library"] != here["library"]:
        return "has another version of the course's library: bring it to the commit that is here, and start the worker anew"
    return f"has no sandbox for submissions: {found['problem']}" if found["problem"] and not unsafe else None


def isolated(work: Callable, job: Any) -> Any:
    """Return `work(job)`, done by a process of its own.

    >>> from operator import neg
    >>> isolated(neg, 3)
    -3
    """
    folders = [str(bubblewrap.LIBRARY.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, "-m", "course_lib.grading.classroom.workers"], input=pickle.dumps((work, job)),
                          capture_output=True, check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)})
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise RuntimeError(f"the process that graded it ended with status {done.returncode} ({words[-200:]})")
    result, error = pickle.loads(done.stdout)
    if error is not None:
        raise error
    return result


def main() -> None:
    """Do what stdin says, and write what came of it to what stdout was; whatever is printed goes to stderr."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work, job = pickle.load(sys.stdin.buffer)
    try:
        told = pickle.dumps((work(job), None))
    except Exception as error:
        plain = type(error) is CourseError         # others may not survive the journey
        told = pickle.dumps((None, error if plain else RuntimeError(f"{type(error).__name__}: {error}")))
    with out:
        out.write(told)


if __name__ == "__main__":
    main()
