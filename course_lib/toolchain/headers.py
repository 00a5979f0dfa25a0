"""Where NVIDIA's headers are: only in its pip wheels, never in a toolkit that happens to be on the machine."""

import functools
import importlib.metadata
from pathlib import Path

# One header that tells the include directory of each wheel, by the wheel's name: (CUDA 13, CUDA 12).
_WHEELS = (
    ("cuda_fp16.h", "nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"),     # cuda_bf16.h, mma.h, cooperative_groups.h
    ("crt/mma.h", "nvidia-cuda-crt", "nvidia-cuda-nvcc-cu12"),              # what the headers above include
    ("cuda/std/array", "nvidia-cuda-cccl", "nvidia-cuda-cccl-cu12"),        # the C++ library
    ("curand_kernel.h", "nvidia-curand", "nvidia-curand-cu12"),             # random numbers; the course itself needs none
)


def header_wheels(major: int) -> tuple[str, ...]:
    """Return the names of the wheels that hold NVIDIA's headers for one major version of CUDA.

    >>> header_wheels(13)
    ('nvidia-cuda-runtime', 'nvidia-cuda-crt', 'nvidia-cuda-cccl', 'nvidia-curand')
    """
    return tuple(names[0] if major >= 13 else names[1] for _, *names in _WHEELS)


@functools.cache
def include_directories(major: int) -> tuple[str, ...]:
    """Return the include directories of the installed header wheels.

    Parameters
    ----------
    major
        NVRTC's major version: its headers must come from the same one.

    Returns
    -------
    Without repetition; empty when no such wheel is installed.
    """
    found: dict[str, None] = {}
    for (header, *_), name in zip(_WHEELS, header_wheels(major), strict=True):
        if folder := _folder_of(name, header):
            found[folder] = None
    return tuple(found)


def _folder_of(name, header):
    """Return the include directory of a wheel, the one under which `header` lies, or None."""
    try:
        files = importlib.metadata.files(name) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.as_posix().endswith(f"/{header}"):
            return str(Path(file.locate()).parents[header.count("/")])
    return None
