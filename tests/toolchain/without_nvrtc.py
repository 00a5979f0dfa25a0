"""A Python that is as on macOS: NVRTC and NVIDIA's tools are not installed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCKED = '''
import importlib.metadata as metadata
import sys

sys.modules["cuda"] = sys.modules["cuda.bindings"] = sys.modules["cuda.bindings.nvrtc"] = None
whole = metadata.distribution

def distribution(name):
    if name.lower().startswith(("nvidia-", "cuda-")):
        raise metadata.PackageNotFoundError(name)
    return whole(name)

metadata.distribution = distribution
'''


def environment(folder, **more):
    """Return the environment for such a Python and the processes that it starts; `folder` is an empty one."""
    Path(folder, "sitecustomize.py").write_text(BLOCKED)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "COURSE_BACKEND": "sim",
                         "WARP_BY_WARP_HOME": str(Path(folder, "home"))} | more


def python(folder, *arguments, timeout=300, **more):
    """Run that Python and return what it prints."""
    done = subprocess.run([sys.executable, *arguments], env=environment(folder, **more), cwd=folder, capture_output=True, text=True,
                          timeout=timeout)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
