"""Ask the NVIDIA driver what it is, before anything is installed; nothing but Python itself is needed."""
import ctypes
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

CC_MAJOR, CC_MINOR = 75, 76             # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR, from cuda.h
WSL = "/usr/lib/wsl/lib"                # where Windows puts the driver's files, outside PATH


@dataclass(frozen=True)
class Gpu:
    """What the driver says: its release "580.65.06", the newest CUDA it runs (13, 0), the device's compute capability.

    One of `driver` and `cuda` may be unknown (None). `problem` says in words why a driver does not answer.
    """

    name: str = ""
    driver: str | None = None
    cuda: tuple[int, int] | None = None
    cc: tuple[int, int] | None = None
    problem: str = ""


def find_gpu() -> Gpu | None:
    """Return the first GPU as the driver describes it, or None when there is no driver."""
    return from_smi() or from_library()


def from_smi() -> Gpu | None:
    """Ask nvidia-smi; None when it is missing or does not know the question."""
    program = shutil.which("nvidia-smi") or shutil.which("nvidia-smi", path=WSL)
    if program is None:
        return None
    try:
        asked = subprocess.run([program, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
                               capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_smi(asked.stdout) if asked.returncode == 0 else None


def parse_smi(text: str) -> Gpu | None:
    """Read nvidia-smi's first line.

    >>> parse_smi("NVIDIA H200, 580.159.04, 9.0")
    Gpu(name='NVIDIA H200', driver='580.159.04', cuda=None, cc=(9, 0), problem='')
    >>> parse_smi("No devices were found") is None
    True
    """
    fields = [field.strip() for field in text.strip().split("\n")[0].rsplit(",", 2)]
    try:
        name, driver, cc = fields
        return Gpu(name, driver, None, numbers(cc)) if numbers(driver) else None
    except ValueError:
        return None


def numbers(version: str) -> Any:
    """Split a version into whole numbers."""
    return tuple(int(part) for part in version.split("."))


def from_library() -> Gpu | None:
    """Ask the driver's own library; None when it is missing."""
    cuda = load("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    if cuda is None:
        return None
    status = cuda.cuInit(0)
    version = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    newest = (version.value // 1000, version.value % 1000 // 10)
    if status != 0:
        return Gpu(cuda=newest, problem=f"an NVIDIA driver is installed but does not start (CUDA error {status})")
    device, name, parts = ctypes.c_int(), ctypes.create_string_buffer(100), []
    if cuda.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return Gpu(cuda=newest, problem="an NVIDIA driver is installed but sees no GPU")
    cuda.cuDeviceGetName(name, len(name), device)
    for attribute in (CC_MAJOR, CC_MINOR):
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        parts.append(value.value)
    return Gpu(name.value.decode(), None, newest, tuple(parts))


def load(library: str) -> Any:
    """Load a shared library; None when there is none."""
    for path in (library, f"{WSL}/{library}"):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def extra_for(gpu: Gpu) -> str:
    """Name the extra of pyproject.toml whose CuPy runs on this driver and device.

    >>> extra_for(Gpu("NVIDIA H200", "580.65.06", None, (9, 0)))
    'gpu13'
    >>> extra_for(Gpu("Tesla V100", "580.65.06", None, (7, 0)))
    'gpu12'
    >>> extra_for(Gpu("NVIDIA L4", None, (12, 8), (8, 9)))
    'gpu12'
    """
    new_driver = numbers(gpu.driver) >= (580,) if gpu.driver else gpu.cuda >= (13, 0)
    return "gpu13" if new_driver and gpu.cc >= (7, 5) else "gpu12"


def too_old(gpu: Gpu) -> str:
    """Say in words that no CuPy of this course runs here, or return "".

    >>> too_old(Gpu("Tesla K80", "470.57.02", None, (3, 7)))
    'Tesla K80 with driver 470.57.02 is too old for CUDA 12, which needs driver 525 and compute capability 5.0'
    >>> too_old(Gpu("NVIDIA L4", "535.104.05", None, (8, 9)))
    ''
    """
    old_driver = numbers(gpu.driver) < (525,) if gpu.driver else gpu.cuda < (12, 0)
    if not old_driver and gpu.cc >= (5, 0):
        return ""
    return f"{describe(gpu).partition(', compute')[0]} is too old for CUDA 12, which needs driver 525 and compute capability 5.0"


def describe(gpu: Gpu) -> str:
    """Name a GPU with the facts that matter here.

    >>> describe(Gpu("NVIDIA L4", None, (12, 8), (8, 9)))
    'NVIDIA L4 with a driver for CUDA 12.8, compute capability 8.9'
    """
    driver = f"driver {gpu.driver}" if gpu.driver else f"a driver for CUDA {dotted(gpu.cuda)}"
    return f"{gpu.name} with {driver}, compute capability {dotted(gpu.cc)}"


def dotted(version: Any) -> str:
    """Join a version's numbers."""
    return ".".join(map(str, version))


if __name__ == "__main__":
    print(find_gpu())
