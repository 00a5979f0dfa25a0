"""On what a measurement was made."""

import os
import platform
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from course_lib import toolchain
from course_lib.simt.host.workers import available_cores

PACKAGES = ("llvmlite", "numpy")


@dataclass(frozen=True)
class Machine:
    """A computer and the versions on it; `cores` are those that this process may use."""

    cpu: str
    cores: int
    system: str
    versions: dict[str, str]

    @property
    def label(self) -> str:
        """Return one line, e.g. "AMD EPYC (znver5), 2 cores, Linux"."""
        return f"{self.cpu}, {self.cores} core{'s' * (self.cores != 1)}, {self.system}"


def this_machine() -> Machine:
    """Describe the computer that this runs on.

    >>> this_machine().cores >= 1
    True
    """
    versions = {"Python": platform.python_version(), "NVRTC": ".".join(map(str, toolchain.nvrtc_version()))}
    versions |= {name: metadata.version(name) for name in PACKAGES}
    return Machine(cpu_name(), available_cores(), platform.system(), versions)


def cpu_name() -> str:
    """Return the processor's own name and what LLVM calls its kind, which decides the vectors that are used."""
    import llvmlite.binding as llvm

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)):
        model = found[1].strip()
    return f"{model} ({llvm.get_host_cpu_name()})"


def load_average() -> float | None:
    """Return how many processes wanted a core during the last minute, or None where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
