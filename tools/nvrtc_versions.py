"""Run every kernel with other versions of NVRTC.

NVIDIA's compiler writes other PTX in each version; the answers must stay the same.

`pinned` stands for the version that the course is installed with (constraints.txt).
"""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tools import ROOT, ToolError, again, from_tests

# What constraints.txt cannot hold, since it has one version of each: compiler, headers, and bindings where the interface differs.
VERSIONS = {
    "12.9": ("cuda-bindings==12.9.10", "nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-runtime-cu12==12.9.79",
             "nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-cuda-cccl-cu12==12.9.27"),
    "13.0": ("nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88", "nvidia-cuda-cccl==13.0.85"),
}


def folder(version: str) -> Path:
    """Return where a version is installed."""
    return ROOT / "build" / f"nvrtc-{version}"


def install(version: str) -> None:
    """Install a version with pip unless it is there.

    Raises
    ------
    ToolError
        With pip's last words, when there is no package index to ask.
    """
    done = folder(version) / "installed"
    if done.exists() and done.read_text() == repr(VERSIONS[version]):
        return
    answer = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--only-binary=:all:",
                             "--target", str(folder(version)), *VERSIONS[version]], capture_output=True, text=True, timeout=280)
    if answer.returncode:
        raise ToolError(f"pip cannot install NVRTC {version}: {answer.stderr.strip()[-300:]}")
    done.write_text(repr(VERSIONS[version]))


def run(version: str) -> dict[str, Any]:
    """Run all kernels in a process of its own; return {"nvrtc": [major, minor], "kernels": count, "wrong": {name: why}}."""
    path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    if version != "pinned":
        path.insert(0, str(folder(version)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "COURSE_BACKEND": "sim"}
    answer = subprocess.run(again("nvrtc-versions", "here", version), cwd=ROOT, capture_output=True, text=True, timeout=900,
                            env=environment)
    if answer.returncode:
        raise ToolError(answer.stderr[-2000:])
    return json.loads(answer.stdout.strip().splitlines()[-1])


def load(version: str) -> None:
    """Load a version's libraries before anything looks for them; the dynamic linker then finds these."""
    for pattern in ("libnvrtc-builtins.so.*", "libnvrtc.so.*"):
        for library in sorted(folder(version).glob(f"nvidia/**/lib/{pattern}")):
            if "alt" not in library.name:
                ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def here(version: str) -> dict[str, Any]:
    """Run all kernels in this process."""
    if version != "pinned":
        load(version)
    from course_lib import toolchain
    told: dict[str, Any] = {"nvrtc": list(toolchain.nvrtc_version()), "kernels": 0, "wrong": {}}
    for name, check in checks():
        told["kernels"] += 1
        try:
            why = check()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        if why:
            told["wrong"][name] = str(why)[:300]
    return told


def checks() -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Yield (name, function that returns what is wrong or None): the recorded kernels and those of the course."""
    from course_lib.kernels import KERNELS
    for case in from_tests("hardware", "hardware_catalog").CASES.values():
        yield case.name, lambda case=case: recorded(case)
    for name in KERNELS:
        yield f"course: {name}", lambda name=name: own(name)


def recorded(case: Any) -> str:
    """Hold a kernel of tests/hardware to its reference."""
    import numpy as np

    from course_lib import simt
    catalog = from_tests("hardware", "hardware_catalog")
    args, expected = case.arguments()
    simt.launch(catalog.KERNELS / f"{case.name}.cu", case.name, case.grid, case.block, args, dynamic_shared=case.dynamic_shared,
                constants=case.constants or {})
    bad = {i: len(catalog.wrong(args[i], np.asarray(want), case.tolerance)) for i, want in expected.items()}
    return ", ".join(f"argument {i}: {n} elements differ" for i, n in bad.items() if n)


def own(name: str) -> str | None:
    """Hold a kernel of the course to float64."""
    import numpy as np

    from course_lib.kernels import KERNELS
    from course_lib.run import mismatch
    from course_lib.run import run as launch
    rng = np.random.default_rng(5)
    guarded = {"GUARD": 3} if any(p.name == "GUARD" for p in KERNELS[name].parameters) else {}
    for M, N, K in ((67, 45, 39), (128, 64, 32)):
        A, B = (rng.standard_normal(shape).astype(KERNELS[name].dtype) for shape in ((M, K), (K, N)))
        found = mismatch(launch(name, A, B, backend="sim", **guarded).C, A, B, inputs=KERNELS[name].inputs)
        if found:
            return found
    return None


@click.group()
def command() -> None:
    """Group what can be done with a version."""


@command.command("install")
@click.argument("version", type=click.Choice(list(VERSIONS)))
def _install(version: str) -> None:
    """Put a version into build/ (pip, about 10 s)."""
    install(version)


@command.command("run")
@click.argument("version", type=click.Choice([*VERSIONS, "pinned"]))
def _run(version: str) -> None:
    """Run all kernels with a version; a JSON object with what is wrong comes last."""
    print(json.dumps(run(version)))


@command.command("here", hidden=True)
@click.argument("version")
def _here(version: str) -> None:
    """Run all kernels in this process."""
    print(json.dumps(here(version)))
