"""Call a C function with NumPy arrays: in this process for speed, or in a process of its own when it may crash."""

import ctypes
import json
import mmap
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.toolchain.host import HostProgram

Real = NDArray[np.float32] | NDArray[np.float64]
REALS = {"float32": ctypes.c_float, "float64": ctypes.c_double}
MOST = 2**30          # M, N, K: a loop that goes in blocks may count beyond its end, and must not leave int there
_SIGNALS = {4: "it ran an instruction that this CPU does not have", 6: "it called abort, or an assertion failed",
            8: "it divided a whole number by zero", 7: "it touched memory that is not there",
            10: "it touched memory that is not there", 11: "it read or wrote memory that is not its own"}
_WINDOWS = {0xC0000005: 11, 0xC0000094: 8, 0xC000001D: 4}

# Runs in the other process: without NumPy and site-packages, so it starts in 20 ms.
_CHILD = """
import ctypes, json, mmap, sys
task = json.load(sys.stdin)
with open(task["memory"], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_AS, (task["bytes"], task["bytes"]))
except (ImportError, ValueError, OSError):
    pass
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
kinds = {"int": ctypes.c_int, "long": ctypes.c_longlong, "float": ctypes.c_float, "double": ctypes.c_double}
values = [ctypes.c_void_p(base + value) if kind == "array" else kinds[kind](value) for kind, value in task["arguments"]]
function = getattr(ctypes.CDLL(task["library"]), task["function"])
function.restype = ctypes.c_int if task["result"] else None
answer = function(*values)
memory.flush()
ctypes.CDLL(None).fflush(None) if sys.platform != "win32" else None
with open(task["answer"], "w") as file:
    json.dump(answer, file)
"""


class CrashedError(CourseError):
    """A C program ended badly; `signal` is its number, None when it ran out of time."""


def gemm_call(program: HostProgram, entry: str, A: Real, B: Real, C: Real, alpha: float = 1.0, beta: float = 0.0,
              threads: int | None = None, returns_status: bool = False) -> Callable[[], None]:
    """Return a callable without arguments that runs C = alpha A B + beta C in place.

    Parameters
    ----------
    entry
        A function (M, N, K, alpha, A, lda, B, ldb, beta, C, ldc[, threads]).
    A, B, C : (M, K), (K, N), (M, N) arrays, all float32 or all float64
        Rows may be padded; C is written.
    threads
        Passed as the last argument when given.
    returns_status
        Whether the function returns 0 for success and something else when memory ran out.

    Raises
    ------
    CourseError
        When types, shapes or strides are wrong, C cannot be written, or C shares memory with A or B.
    """
    _check(A, B, C)
    real = REALS[C.dtype.name]
    types, values = gemm_arguments(A, B, C, alpha, beta, threads)
    kinds = {"int": ctypes.c_int, "array": ctypes.c_void_p, "float": real, "double": real}
    function = program.function(entry, *(kinds[t] for t in types), result=ctypes.c_int if returns_status else None)
    values = [v.ctypes.data if isinstance(v, np.ndarray) else v for v in values]

    def call(keep=(A, B, C)):           # the arrays live as long as the callable
        if function(*values):
            raise CourseError(f"{entry} found no memory for its work: take smaller blocks or fewer threads")

    return call


def gemm_arguments(A: Real, B: Real, C: Real, alpha: float, beta: float,
                   threads: int | None = None) -> tuple[list[str], list[float | Real]]:
    """Return the kinds ("int", "float", "double", "array") and the values of a GEMM's arguments, in order."""
    real = "float" if C.dtype == np.float32 else "double"
    (M, K), N = A.shape, B.shape[1]
    pairs = [("int", M), ("int", N), ("int", K), (real, float(alpha)), ("array", A), ("int", leading(A)),
             ("array", B), ("int", leading(B)), (real, float(beta)), ("array", C), ("int", leading(C))]
    pairs += [] if threads is None else [("int", int(threads))]
    return [kind for kind, _ in pairs], [value for _, value in pairs]


def leading(array: NDArray[Any]) -> int:
    """Return the elements from one row of an array to the next.

    >>> leading(np.zeros((4, 8))[:, :5])
    8
    """
    return array.strides[0] // array.itemsize if array.shape[0] > 1 else array.shape[1]


def call_in_subprocess(program: HostProgram, entry: str, kinds: Sequence[str], values: Sequence[float | NDArray[Any]], *,
                       status: bool = False, limit_s: float = 20.0, memory: int = 4 << 30) -> tuple[int | None, str]:
    """Call a function in a process of its own, which may crash or never end without harm to this one.

    Parameters
    ----------
    program, entry
        As for `gemm_call`.
    kinds, values
        "int", "long", "float", "double" with numbers; "array" with arrays, which are given back as the function left
        them: the whole span of memory from an array's first to its last element, padding included.
    status
        Whether the function returns an int.
    limit_s
        Seconds until the process is ended.
    memory
        Bytes of address space that the process may have beside the arrays, where the system can limit it. It may write
        files, its printed text among them, of 1 MiB.

    Returns
    -------
    (status or None, what it printed)

    Raises
    ------
    CrashedError
        With the reason why the process ended badly.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        layout, size = _layout(values)
        memory_file, answer = Path(folder, "memory"), Path(folder, "answer")
        memory_file.write_bytes(b"\0")
        with open(memory_file, "r+b") as file:
            file.truncate(size)
            with mmap.mmap(file.fileno(), 0) as shared:
                for value, offset in layout:
                    shared[offset:offset + value.nbytes] = value.tobytes()
        offsets = iter(layout)
        arguments = [(kind, next(offsets)[1] if kind == "array" else value) for kind, value in zip(kinds, values, strict=True)]
        task = {"memory": str(memory_file), "answer": str(answer), "library": str(program.path), "function": entry,
                "arguments": arguments, "result": status, "bytes": memory + size}
        printed = _run(task, program.name, limit_s)
        content = memory_file.read_bytes()
        for value, offset in layout:
            if value.flags.writeable:
                value[...] = np.frombuffer(content, value.dtype, value.size, offset).reshape(value.shape)
        return json.loads(answer.read_text()), printed


def _layout(values):
    """Return (array, offset) for each array, which must be contiguous, and the size of all."""
    layout, size = [], 0
    for value in values:
        if isinstance(value, np.ndarray):
            layout.append((value, size))
            size += -(-value.nbytes // 64) * 64
    return layout, size + 4096


def _run(task, name, limit_s):
    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    printed = Path(task["answer"]).with_name("printed")
    with open(printed, "wb") as file:
        done, late = _wait(command, json.dumps(task).encode(), file, limit_s)
    if late:
        raise CrashedError(f"{name} did not end within {limit_s:g} s: does a loop count past its end?", signal=None)
    with open(printed, "rb") as file:
        said = file.read(10_000).decode(errors="replace")
    if not Path(task["answer"]).exists():
        number = _WINDOWS.get(done.returncode & 0xFFFFFFFF, -done.returncode if done.returncode < 0 else None)
        reason = _SIGNALS.get(number or 0, f"it ended with status {done.returncode}")
        raise CrashedError(f"{name} was stopped: {reason}", signal=number, said=said)
    return said


def _wait(command, task, file, limit_s):
    """Run a process to its end or to the limit; return it, and whether the limit ended it.

    A timer ends it, for Python's own wait with a limit looks up only every 50 ms.
    """
    late = threading.Event()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=file) as process:
        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, end)
        timer.daemon = True
        timer.start()
        try:
            process.communicate(task)
        except BaseException:           # Ctrl-C, too: nothing is left running
            process.kill()
            raise
        finally:
            timer.cancel()
    return process, late.is_set() and process.returncode != 0


def _check(A, B, C):
    named = {"A": A, "B": B, "C": C}
    for name, array in named.items():
        if not isinstance(array, np.ndarray) or array.ndim != 2 or 0 in array.shape:
            raise CourseError(f"{name} must be a NumPy matrix with at least one row and column")
        if array.dtype.name not in REALS or array.dtype != C.dtype or not array.dtype.isnative:
            raise CourseError(f"A, B and C must be all float32 or all float64, but {name} is {array.dtype} and C is {C.dtype}")
        _check_rows(name, array)
    (M, K), N = A.shape, B.shape[1]
    if B.shape[0] != K or C.shape != (M, N):
        raise CourseError(f"A {A.shape}, B {B.shape} and C {C.shape} do not fit: C = A B is (M, K) times (K, N)")
    if max(M, N, K) > MOST:
        raise CourseError(f"a matrix of {max(M, N, K)} rows or columns is too large: at most {MOST}")
    if not C.flags.writeable:
        raise CourseError("C is read-only: give C.copy()")
    for name in "AB":
        if np.may_share_memory(named[name], C) and np.shares_memory(named[name], C):
            raise CourseError(f"C shares memory with {name}, which the program reads while it writes C: give C.copy()")


def _check_rows(name, array):
    rows, cols = array.shape
    across, along = array.strides
    step = array.itemsize
    if (cols > 1 and along != step) or (rows > 1 and (across < cols * step or across % step)):
        raise CourseError(f"neighbours in a row of {name} must lie side by side and rows apart, but its strides are "
                          f"{array.strides} bytes: give np.ascontiguousarray({name})")
    if array.ctypes.data % step:
        raise CourseError(f"{name} begins at an address that is no multiple of {step}: give {name}.copy()")
    if leading(array) > 2**31 - 1:
        raise CourseError(f"rows of {name} lie {leading(array)} elements apart, more than an int holds")
