"""What can stand in the way of installing the course, each with one sentence for the reader; nothing but Python itself is needed."""
import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

OLDEST = (3, 11)
AGAIN = "then type the same command again"
FULL = f"The disk is full: free some space, {AGAIN}."
ANEW = f"remove it with `make clean`, {AGAIN}."
# What pip and Python print -> what that means. The first that is found counts: a full disk may follow upon a slow network.
REASONS = (
    ("No space left on device|Disk quota exceeded", FULL),
    (r"Read-only file system|Permission denied: '",
     "A file of the installation may not be written (is .venv another user's?): clone the course into a folder of yours, and work there."),
    (r"No module named pip\b", f"There is no pip in .venv: {ANEW}"),
    ("CERTIFICATE_VERIFY_FAILED",
     f"pip does not trust the certificate that it was shown: name your network's own in PIP_CERT, {AGAIN}."),
    (r"Retry\(total=0|Max retries exceeded|Read timed out|from versions: none|IncompleteRead|incomplete-download|Connection reset",
     f"pip could not reach the package index, and installing needs a network: connect to one (behind a proxy, set https_proxy), {AGAIN}."),
    ("ensurepip|No module named venv",
     "This Python cannot make a virtual environment, as a part of it is missing: install that "
     f"(on Debian and Ubuntu `sudo apt install python3-venv`), {AGAIN}."),
)


def explain(text: str) -> str:
    """Return what is wrong, from what pip or Python printed; "" when that is not known.

    >>> explain("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device")
    'The disk is full: free some space, then type the same command again.'
    """
    return next((words for pattern, words in REASONS if re.search(pattern, text)), "")


def not_writable(folder: Path) -> str:
    """Return why nothing can be written into a folder, or ""."""
    if os.access(folder, os.W_OK):
        return ""
    return f"You may not write into {folder}: clone or copy the course into a folder of your own, and type the same command there."


def no_room(folder: Path, megabytes: float) -> str:
    """Return why a folder's disk cannot take so much more, or ""."""
    free = shutil.disk_usage(folder).free / 1e6
    if free >= megabytes:
        return ""
    return (f"The course takes up to {megabytes / 1000:.1f} GB, and the disk of {folder} has {free / 1000:.1f} GB left: "
            f"free some space, {AGAIN}.")


def wrong_venv(venv: Path, python: Path) -> str:
    """Return why a virtual environment that is there cannot be used, or "".

    Parameters
    ----------
    venv, python : Path
        Its folder and its interpreter.
    """
    if not venv.is_dir() or not any(venv.iterdir()):
        return f"{venv} is no folder: {ANEW}" if os.path.lexists(venv) and not venv.is_dir() else ""
    try:
        said = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:3])"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return f"The Python of {venv.name} does not run (was it updated or removed, or the folder copied?): {ANEW}"
    if tuple(map(int, said.split()))[:2] < OLDEST:
        return f"{venv.name} was made with Python {said.strip().replace(' ', '.')}, and the course needs 3.11 or newer: {ANEW}"
    if (place := made_for(venv)) not in (None, venv.resolve()):
        return f"{venv.name} was made for {place.parent} (was the folder moved or copied?): {ANEW}"
    return ""


def made_for(venv: Path) -> Path | None:
    """Return the folder that a virtual environment was made in, or None when it does not say so; its programs work nowhere else."""
    try:
        found = re.search(r"^command = .* -m venv (?:--\S+ )*(.+)$", (venv / "pyvenv.cfg").read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return Path(found[1]).resolve() if found else None


@contextlib.contextmanager
def one_at_a_time(folder: Path, say: Callable[[str], object]) -> Iterator[None]:
    """Let one process at a time through; another waits, and says so once. Where a file system has no locks, nobody waits."""
    try:
        import fcntl
    except ModuleNotFoundError:                 # Windows
        yield
        return
    number = os.open(folder, os.O_RDONLY)       # the folder itself: it may be read-only, and no file is left behind
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another `make` is installing the course in this folder: waiting until it is done …")
            fcntl.flock(number, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        os.close(number)
