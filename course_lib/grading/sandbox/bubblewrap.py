"""How a sandbox is made: what bubblewrap shows a program of this machine, and what it keeps from it.

Two sandboxes: one for kernels, with the library and NVIDIA's headers, and one for answers in Python, which has Python and its packages
and not even the library, as that knows what is right. Neither has a network, /proc, or a device but /dev/null; everything is read only
but a small /tmp.
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.sandbox import seccomp
from course_lib.toolchain import disk
from course_lib.toolchain.headers import include_directories
from course_lib.toolchain.nvrtc import nvrtc_version

LIBRARY = Path(__file__).resolve().parents[2]
HEADERS = "/headers"                 # in the sandbox; the whole world of the compiler
GIBIBYTES = 3                        # address space of each process with kernels
SCRATCH_BYTES = 96 << 20             # of /tmp for kernels; machine code is disassembled from a file
# The compiler's own, smaller world (`compiler.py`) needs a user namespace in that of bubblewrap.
_PROBE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000) and 'no nested user namespace')"
_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache")


@functools.cache
def problem() -> str | None:
    """Return why untrusted programs cannot be run safely on this machine, or None."""
    if not shutil.which("bwrap"):
        return "bubblewrap is missing: install it (`sudo apt install bubblewrap`)"
    done = subprocess.run([*_walls(SCRATCH_BYTES), *_ENDS, sys.executable, "-c", _PROBE], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"bubblewrap does not work here ({done.stderr.strip()[-200:]}): unprivileged user namespaces must be allowed, nested too"
    return None


def demand(unsafe: bool) -> None:
    """Raise `CourseError` where there is no sandbox, unless that was asked for."""
    if not unsafe and problem():
        raise CourseError(f"{problem()}. Nothing is graded without a sandbox, as submissions are untrusted programs; "
                          "--unsafe does it all the same, at your own risk")


def for_kernels(cache: str | Path | None, fills_cache: bool, unsafe: bool) -> tuple[list[str], dict[str, str] | None]:
    """Return (command, environment) of the process that compiles and launches kernels.

    Parameters
    ----------
    cache
        Folder of translations that many launches share; read only unless `fills_cache`.
    unsafe
        Without bubblewrap: the limits alone.
    """
    inside = [sys.executable, "-B", "-m", "course_lib.grading.sandbox.inside"]
    if unsafe:
        return [*inside, "", str(GIBIBYTES)], os.environ | _environment(str(LIBRARY.parent), str(cache or disk.cache_folder().parent))
    command = [*_walls(SCRATCH_BYTES), "--ro-bind", str(LIBRARY), "/course/course_lib", "--dir", HEADERS]
    for folder in _outermost(include_directories(nvrtc_version()[0])):
        command += ["--ro-bind", folder, HEADERS + folder]
    for header in sorted((LIBRARY / "kernels").glob("*.cuh")):             # the compiler looks for them where the library lies
        command += ["--ro-bind", str(header), f"{HEADERS}/course/course_lib/kernels/{header.name}"]
    if cache and Path(cache).is_dir():
        command += ["--bind" if fills_cache else "--ro-bind", str(cache), "/cache"]
    return [*command, *_variables(_environment("/course", "/cache")), *_ENDS, *inside, HEADERS, str(GIBIBYTES)], None


def for_answers(unsafe: bool) -> tuple[list[str], dict[str, str] | None]:
    """Return (command, environment) of the process that calls a Python function, fresh for each part."""
    here = Path(__file__).with_name("answer.py")
    inside = [sys.executable, "-B", "-P", "-s"]
    if unsafe:
        return [*inside, str(here)], os.environ | _environment("", "")
    command = [*_walls(1 << 20, hidden=True), "--ro-bind", str(here), "/answer.py", "--disable-userns"]
    return [*command, *_variables(_environment("", "")), *_ENDS, *inside, "/answer.py"], None


def start(command: Sequence[str], environment: Mapping[str, str] | None, processes: bool) -> subprocess.Popen[bytes]:
    """Start a sandbox; return the process, with pipes for stdin, stdout and stderr.

    Parameters
    ----------
    command, environment
        From `for_kernels` or `for_answers`.
    processes
        Whether what runs in it may make further processes.
    """
    passed: tuple[int, ...] = ()
    rules = seccomp.program(processes)
    if command[0] == "bwrap" and rules:
        read, write = os.pipe()
        os.write(write, rules)
        os.close(write)
        passed, command = (read,), ["bwrap", "--seccomp", str(read), *command[1:]]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                                pass_fds=passed, start_new_session=True, bufsize=0)
    finally:
        for number in passed:
            os.close(number)


_ENDS = ("--remount-ro", "/", "--chdir", "/tmp")


def _walls(scratch, hidden=False):
    """Return bwrap with the system and Python; `hidden` covers the library wherever it would show through."""
    command = ["bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
               "--size", str(scratch), "--tmpfs", "/tmp"]
    shown = [str(path) for path in dict.fromkeys((*_SYSTEM, sys.base_prefix, sys.prefix))]
    for path in shown:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    if hidden and any(Path(path) in LIBRARY.parents for path in shown):
        command += ["--tmpfs", str(LIBRARY)]
    return [*command, "--dev-bind", "/dev/null", "/dev/null"]


def _outermost(folders):
    return [folder for folder in folders if not any(Path(other) in Path(folder).parents for other in folders)]


def _variables(environment):
    return [word for name, value in environment.items() for word in ("--setenv", name, value)]


def _environment(library, cache):
    return {"PYTHONPATH": library, "COURSE_CACHE": cache, "COURSE_BACKEND": "sim", "PATH": "/usr/bin:/bin", "HOME": "/tmp",
            "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "MPLCONFIGDIR": "/tmp"}
