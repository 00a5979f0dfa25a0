"""Run the check of strangers' kernels in a sandbox: bubblewrap, nothing of the machine but the library, no network, limits.

    >>> result = judge({"tile": "__device__ int x;"}, "04_tiling", seed=1, unsafe=True)["tile"]
    >>> result["passed"], result["kind"]
    (False, 'entry')
"""

import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.toolchain import disk
from course_lib.toolchain.headers import include_directories
from course_lib.toolchain.nvrtc import nvrtc_version

LIBRARY = Path(__file__).resolve().parents[1]
HEADERS = "/headers"                 # in the sandbox; the whole world of the compiler
GIBIBYTES = 3                        # address space of each process
SECONDS = 60                         # for one part of an exercise; a usual one takes about one
MOST_REPLY = 1 << 20                 # bytes
# The compiler's own, smaller world (`inside.py`) needs a user namespace in that of bubblewrap.
_PROBE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000) and 'no nested user namespace')"
_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache")


@functools.cache
def problem():
    """Return why strangers' kernels cannot be run safely on this machine, or None."""
    if not shutil.which("bwrap"):
        return "bubblewrap is missing: install it (`sudo apt install bubblewrap`)"
    done = subprocess.run([*_bubblewrap(None, False), sys.executable, "-c", _PROBE], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"bubblewrap does not work here ({done.stderr.strip()[-200:]}): unprivileged user namespaces must be allowed, nested too"
    return None


def demand(unsafe):
    """Raise `CourseError` where there is no sandbox, unless that was asked for."""
    if not unsafe and problem():
        raise CourseError(f"{problem()}. Nothing is graded without a sandbox, as submissions are programs of strangers; "
                          "--unsafe does it all the same, at your own risk")


def judge(answers, exercise, *, seed, cache=None, fills_cache=False, seconds=SECONDS, unsafe=False):
    """Check the kernels of one submission; one that hangs or breaks the sandbox costs the others nothing.

    Parameters
    ----------
    answers : dict
        Part -> CUDA text.
    exercise : str
    seed : int
        Draws further inputs.
    cache : Path, optional
        Folder for translations that many launches share; read only, unless `fills_cache`, which is for the instructor's own kernels.
    seconds : float
        Limit for each part.
    unsafe : bool
        Do without bubblewrap, with the limits alone.

    Returns
    -------
    dict
        Part -> what `inside.judged` returns.

    Raises
    ------
    CourseError
        Where there is no sandbox, or it does not start: that is no student's fault, and gives no result.
    """
    demand(unsafe)
    waiting, results = dict(answers), {}
    while waiting:
        found, ended = _run(waiting, exercise, seed, _command(cache, fills_cache, unsafe), seconds, cache)
        results |= found
        waiting = {name: text for name, text in waiting.items() if name not in found}
        if waiting and ended:
            first = next(iter(waiting))
            results[first] = {"passed": False, "kind": "ended", "told": ended, "html": ""}
            del waiting[first]
    return results


def _command(cache, fills_cache, unsafe):
    inside = [sys.executable, "-B", "-m", "course_lib.grading.inside"]
    if unsafe:
        return [*inside, "", str(GIBIBYTES)]
    return [*_bubblewrap(cache, fills_cache), *inside, HEADERS, str(GIBIBYTES)]


def _bubblewrap(cache, fills_cache):
    """Return bwrap with the little that the check needs to see; no /proc, no devices but /dev/null."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv", "--tmpfs", "/tmp"]
    for path in dict.fromkeys((*_SYSTEM, sys.base_prefix, sys.prefix)):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    command += ["--ro-bind", str(LIBRARY), "/course/course_lib", "--dev-bind", "/dev/null", "/dev/null", "--dir", HEADERS]
    for folder in _outermost(include_directories(nvrtc_version()[0])):
        command += ["--ro-bind", folder, HEADERS + folder]
    if cache and Path(cache).is_dir():
        command += ["--bind" if fills_cache else "--ro-bind", str(cache), "/cache"]
    for name, value in _environment("/course", "/cache").items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", "/tmp"]


def _outermost(folders):
    return [folder for folder in folders if not any(Path(other) in Path(folder).parents for other in folders)]


def _environment(library, cache):
    return {"PYTHONPATH": library, "COURSE_CACHE": cache, "COURSE_BACKEND": "sim", "PATH": "/usr/bin:/bin", "HOME": "/tmp",
            "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "MPLCONFIGDIR": "/tmp"}


def _run(answers, exercise, seed, command, seconds, cache):
    """Start one sandbox; return the results that came, and a sentence on why no more did (or "")."""
    environment = None                   # bubblewrap sets its own
    if command[0] != "bwrap":
        environment = os.environ | _environment(str(LIBRARY.parent), str(cache or disk.cache_folder().parent))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                          start_new_session=True) as process:
        lines, why = [], ""
        try:
            process.stdin.write(json.dumps({"exercise": exercise, "seed": seed, "answers": answers}).encode())
            process.stdin.close()
            lines, why = _read(process.stdout, len(answers) + 1, seconds)
        except BrokenPipeError:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        words = process.stderr.read(2000).decode(errors="replace").strip().splitlines()
    if lines[:1] != [b"ready"]:
        raise CourseError(f"the sandbox does not start: {words[-1][:300] if words else why or 'it says nothing'}")
    results = {}
    for line in lines[1:]:
        result = json.loads(line)
        results[result.pop("part")] = result
    if len(results) == len(answers):
        return results, ""
    return results, why or ("The check of this kernel ended before it had a result: it needs more memory than grading allows, or breaks "
                            f"the simulator{f' ({words[-1][:200]})' if words else ''}.")


def _read(pipe, count, seconds):
    """Read `count` lines, each within its time; return them, and a sentence when the time was over."""
    data, deadline = b"", time.monotonic() + seconds
    while data.count(b"\n") < count and len(data) < MOST_REPLY:
        ready, *_ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return data.split(b"\n")[:-1], (f"Compiling and running this kernel takes longer than the {seconds:g} s that grading "
                                            "allows for a part.")
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            break
        if b"\n" in piece:
            deadline = time.monotonic() + seconds
        data += piece
    return data.split(b"\n")[:-1], ""
