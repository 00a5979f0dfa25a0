"""What a lesson's first cell imports: nothing that only other lessons, tools or machines need."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
# The compiler is loaded by the first kernel that is not known yet, a GPU's library by the first question for a GPU.
LATER = {"cuda", "cupy", "dask", "jupyterlab", "matplotlib.pyplot", "nbconvert", "nbformat", "nbgrader", "numba", "pandas", "playwright",
         "scipy", "sklearn", "course_lib.bench", "course_lib.grading", "course_lib.training"}
# The lesson's own subject (variants of kernels that were timed), and in lessons 01 and 02 what judges loops in C, as in their exercises.
NEEDED = {"01_triple_loop": {"course_lib.grading"}, "02_cpu": {"course_lib.grading"}, "14_gemm_at_work": {"course_lib.training"},
          **dict.fromkeys(("15_closing_in", "17_stages", "19_busy"), {"course_lib.bench"})}


def imports(path):
    """Return the import statements of a notebook's first cell of code, as text."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    plain = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
    found = [node for node in ast.parse(plain).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, found))


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_begins_with_what_it_needs(path):
    child = f"{imports(path)}\nimport sys\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"})
    loaded = set(found.stdout.split())
    assert "course_lib" in loaded
    assert not loaded & (LATER - NEEDED.get(path.stem, set()))


def test_who_asks_for_a_gpu_loads_no_toolchain():
    child = "import sys, course_lib.gpu\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout.split()
    assert "course_lib.gpu.launch" in loaded
    assert "course_lib.toolchain" not in loaded
