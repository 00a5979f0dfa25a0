"""Is there a GPU that works? Asked by trying: a tiny kernel is compiled, launched and its answer checked.

The trial runs in a process of its own, so that a broken driver which crashes or hangs costs a sentence and
not the notebook.
"""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from course_lib.gpu.launch import launch

PATIENCE = 90      # seconds; a first CuPy import and context take two or three


@dataclass(frozen=True)
class GpuStatus:
    """What the trial found.

    Attributes
    ----------
    reason
        One sentence for the reader: why not, or what was shown to work.
    name
        The device, "NVIDIA H200".
    cc
        Compute capability, (9, 0).
    arch
        What the compiler is asked for, "sm_90".
    cuda, driver
        The newest CUDA that the driver supports ("13.0"), and the driver's own release ("580.65.06").
    """

    usable: bool
    reason: str
    name: str = ""
    cc: tuple[int, int] | None = None
    arch: str = ""
    cuda: str = ""
    driver: str = ""
    memory_bytes: int = 0
    multiprocessors: int = 0


@cache
def probe() -> GpuStatus:
    """Return whether a GPU can be used, and why not; tried once per process.

    Never raises: whatever goes wrong becomes the `reason`.
    """
    try:
        if importlib.util.find_spec("cupy") is None:
            return GpuStatus(False, "CuPy, which talks to the GPU, is not installed; "
                                    "`make lab` installs it where there is an NVIDIA driver")
        return _ask_child()
    except Exception as error:
        return GpuStatus(False, f"the GPU could not be tried ({_first_line(error)})")


def _ask_child():
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        child = subprocess.run([sys.executable, "-m", "course_lib.gpu", "--json"], capture_output=True, text=True,
                               timeout=PATIENCE, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    except subprocess.TimeoutExpired:
        return GpuStatus(False, f"the GPU did not answer a tiny kernel within {PATIENCE} seconds")
    answer = child.stdout.strip().rpartition("\n")[2]
    try:
        return from_json(answer)
    except ValueError:               # it printed something else than a status, or nothing
        how = f"signal {-child.returncode}" if child.returncode < 0 else f"exit status {child.returncode}"
        last = child.stderr.strip().rpartition("\n")[2]
        return GpuStatus(False, f"the process that tried the GPU ended with {how}" + (f" ({last})" if last else ""))


def from_json(text: str) -> GpuStatus:
    """Read a status that `try_here` found in another process.

    Raises
    ------
    ValueError
        When the text is no status.
    """
    facts = json.loads(text)
    if not isinstance(facts, dict) or facts.keys() != {field.name for field in fields(GpuStatus)}:
        raise ValueError("no status")
    cc = facts.pop("cc")
    return GpuStatus(cc=tuple(cc) if cc else None, **facts)


def to_json(status: GpuStatus) -> str:
    """Write a status on one line.

    >>> from_json(to_json(GpuStatus(False, "no GPU")))
    GpuStatus(usable=False, reason='no GPU', name='', cc=None, arch='', cuda='', driver='', memory_bytes=0, \
multiprocessors=0)
    """
    return json.dumps(asdict(status))


def try_here() -> GpuStatus:
    """Compile, launch and check the tiny kernel in this process; never raises."""
    try:
        import cupy
    except Exception as error:
        return GpuStatus(False, f"CuPy, which talks to the GPU, cannot be imported ({_first_line(error)})")
    try:
        device = _describe(cupy)
    except Exception as error:
        return GpuStatus(False, _no_device(cupy, error))
    try:
        wrong = _check(device["arch"])
    except Exception as error:
        words = f"{device['name']} is there, but a tiny kernel failed on it: {_first_line(error)}"
        return GpuStatus(False, words, **device)
    if wrong:
        return GpuStatus(False, f"{device['name']} is there, but {wrong}", **device)
    return GpuStatus(True, f"{device['name']} ran a tiny kernel and its answer was right", **device)


def _describe(cupy):
    runtime = cupy.cuda.runtime
    if runtime.getDeviceCount() == 0:
        raise RuntimeError("cudaErrorNoDevice")
    facts = runtime.getDeviceProperties(0)
    version = runtime.driverGetVersion()
    cc = (int(facts["major"]), int(facts["minor"]))
    return {"name": facts["name"].decode(), "cc": cc, "arch": f"sm_{cc[0]}{cc[1]}",
            "cuda": f"{version // 1000}.{version % 1000 // 10}", "driver": _driver_release(),
            "memory_bytes": int(facts["totalGlobalMem"]), "multiprocessors": int(facts["multiProcessorCount"])}


def _driver_release():
    """Return the driver's release as nvidia-smi gives it, or "" when that does not answer."""
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip().split("\n")[0] if answer.returncode == 0 else ""


def _no_device(cupy, error):
    words = str(error)
    try:
        version = cupy.cuda.runtime.driverGetVersion()
    except Exception:
        version = 0
    if "InsufficientDriver" in words and version == 0:
        return "this machine has no NVIDIA driver, or one that does not start"
    if "InsufficientDriver" in words:
        return (f"the NVIDIA driver supports CUDA {version // 1000}.{version % 1000 // 10}, "
                "which is older than the installed CuPy needs: update the driver")
    if "NoDevice" in words:
        return "the NVIDIA driver is there, but it sees no GPU"
    return f"the NVIDIA driver refused to start ({_first_line(error)})"


def _check(arch):
    """Return a sentence when the tiny kernel's answer is wrong, else None."""
    from course_lib.toolchain import compile_cuda

    n = 1000
    x, y = np.linspace(-1, 1, n, dtype=np.float32), np.full(n, np.nan, np.float32)
    source = Path(__file__).with_name("probe.cu").read_text(encoding="utf-8")
    compiled = compile_cuda(source, name="probe.cu", arch=arch)
    blocks = -(-n // 128)
    launch(compiled, "probe", blocks, 128, [np.int32(n), x, y])
    padded = np.zeros(blocks * 128, np.float32)
    padded[:n] = 3 * x
    right = padded.reshape(blocks, 128)[:, ::-1].reshape(-1)[:n] + np.arange(n, dtype=np.float32)
    bad = np.flatnonzero(~(np.abs(y - right) <= 1e-6 * (1 + np.abs(right))))    # written so that NaN is bad
    return f"a tiny kernel gave {y[bad[0]]} where {right[bad[0]]} is right" if len(bad) else None


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" =")]
    return lines[0] if lines else type(error).__name__
