"""Replay what Google Colab does.

It puts Colab's packages into a virtual environment, runs the README's cell, then lessons, and moves their sliders.

The versions are Colab's own (github.com/googlecolab/backend-info, pip-freeze.txt and pip-freeze.gpu.txt of 2026-08-19, Python 3.13), of
the packages that meet the course. With --gpu the environment also has a GPU runtime's CUDA 12 packages, and a program called nvidia-smi:
kernels are then compiled by NVRTC 12, and still simulated. The cell clones this repository as it is committed. Needs the package index.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

from tools import ROOT
from tools.replay.lesson import index_variables, right, told

HERE = ROOT / "build" / "colab"
ADDRESS = "PUT THE COURSE'S ADDRESS HERE"        # what the README's cell says in its place
COLAB = """
anywidget==0.9.21 backcall==0.2.0 debugpy==1.8.15 decorator==4.4.2 ipykernel==6.17.1 ipython==7.34.0 ipywidgets==7.7.1
jupyter-client==7.4.9 jupyter-core==5.9.1 jupyterlab-widgets==3.0.16 llvmlite==0.44.0 matplotlib==3.10.0 matplotlib-inline==0.2.2
nbclient==0.10.4 nbformat==5.11.1 notebook==6.5.7 numba==0.61.2 numpy==2.1.3 packaging==26.3 pillow==11.3.0 pip==24.1.2
psutil==5.9.5 pygments==2.21.0 pyzmq==26.2.1 scikit-learn==1.6.1 scipy==1.16.3 threadpoolctl==3.6.0 tornado==6.5.7 tqdm==4.67.3
traitlets==5.7.1 widgetsnbextension==3.6.10
"""
COLAB_GPU = """
cuda-bindings==12.9.7 cuda-pathfinder==1.6.0 nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-nvcc-cu12==12.8.93
nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-cuda-runtime-cu12==12.8.90
"""
REPLACED = {"llvmlite"}                          # of Colab's packages, as the README says


def cell() -> str:
    """Return the README's cell, with this repository as the address."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = (block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if ADDRESS in block)
    return found.replace(ADDRESS, ROOT.as_uri())


def environment(python: str, gpu: bool) -> tuple[Path, dict[str, str]]:
    """Make Colab's environment anew, an empty folder to work in and an empty home; return (its Python, its variables)."""
    shutil.rmtree(HERE, ignore_errors=True)
    for name in ("content", "home"):
        (HERE / name).mkdir(parents=True)
    subprocess.run([python, "-m", "venv", HERE / "venv"], check=True)
    own = HERE / "venv" / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", *COLAB.split(), *(COLAB_GPU.split() if gpu else ())], check=True)
    if gpu:
        (own.parent / "nvidia-smi").symlink_to("/bin/true")
    return own, index_variables() | {"HOME": str(HERE / "home"), "LANG": "C.UTF-8", "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}"}


def installed(python: Path) -> dict[str, str]:
    """Return name -> version of what is installed there."""
    asked = subprocess.run([python, "-m", "pip", "list", "--format", "json"], check=True, capture_output=True, text=True)
    return {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(asked.stdout)}


@click.command()
@click.argument("lessons", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--python", default=sys.executable, help="Colab's is 3.13.")
@click.option("--gpu", is_flag=True, help="With the CUDA 12 packages of a GPU runtime.")
def command(lessons: tuple[Path, ...], python: str, gpu: bool) -> None:
    """Replay, and compare the packages before and after."""
    own, variables = environment(python, gpu)
    before, good = installed(own), True
    (HERE / "cell.py").write_text(cell(), encoding="utf-8")
    for number, lesson in enumerate(lessons):
        words = [own, ROOT / "tools" / "replay" / "lesson.py", lesson.resolve(), *([HERE / "cell.py"] if number == 0 else [])]
        done = subprocess.run(words, cwd=HERE / "content", env=variables, text=True, stdout=subprocess.PIPE, check=True)
        result = json.loads(done.stdout.splitlines()[-1])
        print(told(result), flush=True)
        good = good and right(result)
    asked = "from course_lib.toolchain import nvrtc_version; print(*nvrtc_version(), sep='.')"
    nvrtc = subprocess.run([own, "-c", asked], cwd=HERE / "content", env=variables, text=True, capture_output=True, check=True).stdout
    print(f"compiled by NVRTC {nvrtc.strip()}")
    after = installed(own)
    changed = {name for name, version in before.items() if after.get(name) != version}
    print(f"replaced: {', '.join(f'{name} {before[name]} by {after.get(name)}' for name in sorted(changed)) or 'nothing'}")
    print(f"added: {', '.join(f'{name} {after[name]}' for name in sorted(after.keys() - before.keys()))}")
    sys.exit(not good or changed != REPLACED or nvrtc.startswith("12") != gpu)
