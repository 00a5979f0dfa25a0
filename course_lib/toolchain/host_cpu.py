"""What CPU this is, and which BLAS NumPy multiplies with on it."""

import functools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@functools.cache
def cpu_name() -> str:
    """Return the CPU's name as its maker writes it, or the architecture when the system does not tell."""
    try:
        if sys.platform == "linux":
            match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
            name = match[1] if match else ""
        elif sys.platform == "darwin":
            name = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True,
                                  timeout=10, check=False).stdout
        else:
            name = platform.processor()
    except (OSError, subprocess.SubprocessError):
        name = ""
    return " ".join(name.split()) or f"a {platform.machine() or 'nameless'} CPU"


def cpu_family() -> tuple[str, str] | None:
    """Return the numbers of the CPU's family and model, which tell it from others of the same name; None where Linux does not tell."""
    path = Path("/proc/cpuinfo")
    text = path.read_text() if path.exists() else ""
    family, model = (re.search(rf"^{name}\s*:\s*(\d+)", text, re.MULTILINE) for name in ("cpu family", "model"))
    return (family[1], model[1]) if family and model else None


def cpu_count() -> int:
    """Return how many threads can run at once in this process: cores, or hyper-threads, that the system grants it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Blas:
    """The library behind np.matmul.

    Attributes
    ----------
    name, version
        "openblas", "0.3.31"; version is "" when the library does not tell.
    kernels
        For which CPU its inner loops are written, when it tells.
    threads
        How many it uses now; None when it does not let itself be asked, as Apple's Accelerate.
    """

    name: str
    version: str
    kernels: str
    threads: int | None

    def __str__(self):
        kernels = f" ({self.kernels} kernels)" if self.kernels else ""
        threads = "its own number of threads" if self.threads is None else f"{self.threads} thread{'s' * (self.threads != 1)}"
        return f"{self.name} {self.version}".strip() + f"{kernels}, {threads}"


def blas() -> Blas:
    """Return NumPy's BLAS, and how many threads it uses now."""
    found = [library for library in _pools().info() if library["user_api"] == "blas"]
    own = [library for library in found if "numpy" in library["filepath"]] or found
    if not own:
        config = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return Blas(config.get("name", "BLAS"), "", "", None)
    library = own[0]
    return Blas(library["internal_api"], library.get("version") or "", library.get("architecture") or "", library["num_threads"])


@contextmanager
def blas_threads(threads: int) -> Iterator[Blas]:
    """Let NumPy's BLAS use this many threads inside the block; yield what it then says of itself."""
    with _pools().limit(limits=threads, user_api="blas"):
        yield blas()


def _pools():
    from threadpoolctl import ThreadpoolController

    np.matmul(np.ones((1, 1)), np.ones((1, 1)))       # the library is loaded by now
    return ThreadpoolController()
