"""NVIDIA's command-line tools, found in their pip wheels and run with a time limit."""

import functools
import importlib.metadata
import subprocess
import tempfile
from pathlib import Path, PurePath

from course_lib.errors import CourseError

SECONDS = 60       # nvdisasm takes 0.4 s to start and little more for a kernel; this is for a machine that swaps


@functools.cache
def find_binary(name: str) -> Path:
    """Return the path of a tool of the wheel `nvidia-cuda-<name>`.

    Raises
    ------
    CourseError
        When the wheel is not installed, or has no such tool.

    >>> find_binary("nvdisasm").stem
    'nvdisasm'
    """
    wheel = f"nvidia-cuda-{name}"
    try:
        files = importlib.metadata.files(wheel) or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    for file in files:
        if PurePath(file.as_posix()).stem == name and file.parent.name == "bin":
            return Path(file.locate())
    raise CourseError(f"{name} is not there: run `pip install {wheel}` in the course's environment (`make lab` does it)",
                      binary=name)


def run_on_cubin(name: str, cubin: bytes, *options: str) -> str:
    """Run a tool on machine code and return what it prints.

    Parameters
    ----------
    name
        The tool, `nvdisasm` or `cuobjdump`.
    cubin
        An ELF file as `compile_cuda` makes it.

    Raises
    ------
    CourseError
        When the tool is missing, fails, or takes longer than a minute.
    """
    check_cubin(cubin)
    binary = find_binary(name)
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        try:
            done = subprocess.run([binary, *options, path], capture_output=True, encoding="utf-8", errors="replace",
                                  timeout=SECONDS, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            raise CourseError(f"{name} did not end within {SECONDS} s", binary=name) from None
        except OSError as error:
            raise CourseError(f"{name} cannot be started: {error.strerror}", binary=name, path=binary) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().replace(str(path), "the cubin")
        raise CourseError(f"{name} cannot read this machine code: {said}", binary=name, status=done.returncode)
    return done.stdout


def check_cubin(cubin: bytes) -> None:
    """Raise a `CourseError` unless this is a cubin."""
    if not isinstance(cubin, (bytes, bytearray)):
        raise CourseError(f"a cubin is needed, bytes, not {type(cubin).__name__}")
    if not cubin:
        raise CourseError("there is no machine code: compile for sm_90, not for the virtual architecture compute_90")
    if cubin[:4] != b"\x7fELF":
        raise CourseError(f"this is no cubin: it begins with {bytes(cubin[:4])!r}, an ELF file begins with b'\\x7fELF'")
