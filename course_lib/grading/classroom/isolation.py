"""Have something done by a process of its own, on whichever machine this module is asked.

A Dask scheduler and its workers load what travels through them, and answer nobody meanwhile. So a call travels as bytes, and this module
imports nothing of the library: only the process that is made for a call loads what the call needs.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

PARENT = Path(__file__).resolve().parents[3]       # of the library


def packed(work: Callable, *arguments: Any) -> bytes:
    """Return a call as bytes, for `isolated`."""
    return pickle.dumps((work, arguments))


def isolated(call: bytes, seconds: float | None = None) -> Any:
    """Return what a call returns, done by a process of its own, which is ended after so many seconds.

    >>> from operator import neg
    >>> isolated(packed(neg, 3))
    -3
    """
    folders = [str(PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run([sys.executable, "-m", __name__], input=call, timeout=seconds, capture_output=True, check=False,
                              env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)})
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the process that graded it was still at it after {seconds:g} s") from None
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
    try:
        work, arguments = pickle.load(sys.stdin.buffer)
        told = pickle.dumps((work(*arguments), None))
    except Exception as error:
        plain = type(error) is CourseError         # others may not survive the journey
        told = pickle.dumps((None, error if plain else RuntimeError(f"{type(error).__name__}: {error}")))
    with out:
        out.write(told)


if __name__ == "__main__":
    main()
