"""What translation found out, cached on disk beside the objects: a later process need not translate again.

Keys hold everything that the result depends on: the texts and this package's own source.
"""

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from course_lib.simt.codegen import native
from course_lib.toolchain import disk

Found = TypeVar("Found")


@functools.cache
def own_source() -> str:
    """Return a hash of this package, which decides how kernels are translated."""
    folder = Path(__file__).parents[1]
    texts = [path.read_bytes() for path in (*sorted(folder.rglob("*.py")), *sorted(folder.glob("runtime/*.cuh")))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def cached(kind: str, parts: Iterable[object], produce: Callable[[], Found]) -> Found:
    """Return `produce()`, or what it returned in some earlier process for the same `kind` and `parts`.

    >>> cached("doctest", ("a", 1), lambda: [1, 2]) == cached("doctest", ("a", 1), lambda: [1, 2])
    True
    """
    key = native.cache_key(kind, sys.version, own_source(), *map(repr, parts))
    return pickle.loads(disk.cached_object(key, lambda: pickle.dumps(produce(), protocol=5)))
