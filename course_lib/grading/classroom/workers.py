"""Grade on the workers of a Dask cluster: each must have this library, the same versions and a sandbox, or nothing is graded.

A worker only passes a submission on, to a process made for it: time can be limited there, nothing of it stays behind, and the worker
goes on sending heartbeats.
"""

import contextlib
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from importlib.metadata import version
from typing import Any, TypedDict

from course_lib.errors import CourseError
from course_lib.grading.classroom.isolation import isolated, packed
from course_lib.grading.classroom.watch import watched
from course_lib.grading.sandbox import bubblewrap
from course_lib.toolchain import nvrtc_version

PACKAGES = ("numpy", "llvmlite", "scipy")          # what a verdict is computed with, besides the library and the compiler
SECONDS = 20                                       # for the scheduler to answer
FACTS = 120                                        # seconds for a worker to load the library and say what it has


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
        demand_equal(facts(), _told_by(client), unsafe)
        with watched(client):
            yield IsolatingExecutor(client.get_executor(pure=False))      # otherwise a second try would be the first one's answer


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


def _told_by(client):
    """Return worker -> its facts, or the exception that came instead; each is asked by itself, so that a hung one is known by name."""
    workers = list(client.scheduler_info()["workers"])

    def ask(worker):
        try:
            return client.run(isolated, packed(facts), workers=[worker], callback_timeout=FACTS)[worker]
        except Exception as error:
            return error

    with futures.ThreadPoolExecutor(max(len(workers), 1)) as threads:
        return dict(zip(workers, threads.map(ask, workers)))


class IsolatingExecutor(futures.Executor):
    """Have what is submitted done in a process of its own, wherever another executor works."""

    def __init__(self, executor: futures.Executor):
        self.executor = executor

    def submit(self, work: Callable, /, *jobs: Any, **options: Any) -> futures.Future:
        """Return a future of `work(job)`, which takes no longer than `job.longest`, where the job has that."""
        return self.executor.submit(isolated, packed(work, *jobs), getattr(jobs[0], "longest", None), **options)


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
    if isinstance(found, TimeoutError):
        return f"does not answer within {FACTS} s: end it, or wait until it has time"
    if isinstance(found, BaseException):
        return f"cannot load the course's library ({type(found).__name__}: {found}): install it there, as it is here"
    for name, wanted in here["versions"].items():
        if found["versions"].get(name) != wanted:
            return f"has {name} {found['versions'].get(name)}, and here it is {wanted}: install what constraints.txt names"
    if found["library"] != here["library"]:
        return "has another version of the course's library: bring it to the commit that is here, and start the worker anew"
    return f"has no sandbox for submissions: {found['problem']}" if found["problem"] and not unsafe else None
