"""What translation found out, kept on disk beside the objects: a later process needs neither NVIDIA's compiler nor ours.

Keys hold everything that the result depends on: the texts, this package's own source, and NVRTC's version. A source that
includes other files is compiled each time, as only the compiler knows which files those are.
"""

import functools
import hashlib
import importlib.metadata
import pickle
import re
import sys
from pathlib import Path

from course_lib.simt import native

WHEELS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "cuda-bindings")
ELSEWHERE = re.compile(r"include|__DATE__|__TIME|import|embed")  # what a text may depend on besides itself


@functools.cache
def own_source():
    """Return a hash of this package, which decides how kernels are translated."""
    folder = Path(__file__).parent
    texts = [path.read_bytes() for path in (*sorted(folder.glob("*.py")), *sorted(folder.glob("runtime/*.cuh")))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


@functools.cache
def compiler_version():
    """Return the versions of the wheels that bring NVRTC, or None when it comes from somewhere else."""
    found = {}
    for name in WHEELS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found.items()) if len(found) > 1 else None


def stands_alone(text, defines, options):
    """Say whether the same text and options always compile to the same.

    >>> stands_alone("__global__ void f() {}", {"N": 4}, ()), stands_alone('#include "tile.cuh"', {}, ())
    (True, False)
    """
    given = " ".join(map(str, (*(defines or {}).values(), *options)))
    return compiler_version() is not None and not ELSEWHERE.search(text + given) and not re.search(r"(^|\s)(-I|-opt|@)", given)


def keep(kind, parts, produce):
    """Return `produce()`, or what it returned in some earlier process for the same `kind` and `parts`.

    >>> keep("doctest", ("a", 1), lambda: [1, 2]) == keep("doctest", ("a", 1), lambda: [1, 2])
    True
    """
    key = native.cache_key(kind, sys.version, own_source(), *map(repr, parts))
    return pickle.loads(native.cached_object(key, lambda: pickle.dumps(produce(), protocol=5)))
