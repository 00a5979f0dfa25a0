"""The wheel, alone in an environment with what it asks for and nothing else: the simulator works, and the rest says what to install."""

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
NAME = "warp-by-warp"
OURS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]

MATRICES = """
import numpy as np
A, B = np.random.default_rng(1).standard_normal((2, 40, 40)).astype(np.float32)
"""
RUNS = MATRICES + """
from course_lib.run import run
result = run("sgemm_tiled", A, B)
assert np.allclose(result.C, A @ B, atol=1e-4)
print(result.count("sectors", "load"), result)
"""
CHECKS = """
from course_lib import kernels
from course_lib.check import check
text = kernels.get("sgemm_tiled").source
right, wrong = check(text), check(text.replace("__syncthreads();", ""))
assert right.right and not wrong.right
print(wrong)
print(len(wrong._repr_html_()) > 1000)
"""
KERNEL = """%%cuda mine --run A B --check
extern "C" __global__ void mine(int M, int N, int K, float alpha, const float* A, int lda,
                                const float* B, int ldb, float beta, float* C, int ldc) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * lda + k] * B[k * ldb + col];
    C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
}
"""
SHELL = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    shell.run_cell(text).raise_error()
cell('''{MATRICES}''')
cell("%load_ext course_lib.magic")
cell('''{KERNEL}''')
"""
NEEDS_MORE = {
    "import course_lib.plots": "course_lib.plots needs matplotlib, which is not installed: run `pip install matplotlib`",
    "import course_lib.widgets":
        "course_lib.widgets needs anywidget, ipywidgets and matplotlib, which are not installed: "
        "run `pip install anywidget ipywidgets matplotlib`",
    "from course_lib.training import digits; digits()":
        "The network that learns the digits needs scikit-learn, which is not installed: run `pip install scikit-learn`",
}


def asked_for(names):
    """Return the distributions that these names ask for on this machine, through any number of hands: name -> Distribution."""
    found, waiting = {}, list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found[name] = importlib.metadata.distribution(name)
            needed = map(Requirement, found[name].requires or ())
            waiting += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Make an environment with the wheel and what it asks for, which is linked there file by file, and return a way to run its Python."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True)
    asked = [r.name for r in map(Requirement, OURS) if r.marker is None or r.marker.evaluate()]
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    for distribution in asked_for(asked).values():
        for file in distribution.files:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(file.locate())
    (folder / "home").mkdir()

    def run(*arguments, code=0):
        environment = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
        done = subprocess.run([python, *arguments], cwd=folder / "home", env=environment, text=True, capture_output=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr
    run.asked = {NAME, *asked_for(asked)}
    return run


@pytest.mark.slow
def test_nothing_is_there_but_the_wheel_and_what_it_asks_for(alone):
    names = alone("-c", "import importlib.metadata as m; print(*(d.name for d in m.distributions()))").split()
    assert {canonicalize_name(name) for name in names} == alone.asked
    where = alone("-c", "import course_lib; print(course_lib.__file__)")
    assert str(ROOT) not in where
    shows = ["matplotlib", "ipywidgets", "jupyterlab", "ipykernel", "nbformat", "nbgrader", "scipy", "sklearn", "pytest", "cupy"]
    found = f"import importlib.util as u; print([name for name in {shows} if u.find_spec(name)])"
    assert alone("-c", found).strip() == "[]"


@pytest.mark.slow
def test_a_kernel_runs(alone):
    out = alone("-c", RUNS)
    assert "sgemm_tiled" in out
    assert "simulated" in out


@pytest.mark.slow
def test_a_kernel_is_checked(alone):
    out = alone("-c", CHECKS)
    assert "hazard" in out
    assert out.endswith("True\n")


@pytest.mark.slow
def test_the_magic_compiles_runs_and_checks_in_a_plain_shell(alone):
    out = alone("-c", SHELL)
    assert "mine: compiled" in out
    assert "simulated" in out
    assert "no hazard" in out


@pytest.mark.exhaustive
def test_the_benchmark_runs(alone):
    assert "{simt,ladder," in alone("-m", "course_lib.bench", "--help")
    out = alone("-m", "course_lib.bench", "simt", "--quick", "--repeats", "1")
    assert "sgemm_tiled" in out
    assert "this Python has no numba" in out


@pytest.mark.slow
@pytest.mark.parametrize("code", NEEDS_MORE)
def test_what_needs_more_says_in_a_sentence_what_to_install(alone, code):
    last = alone("-c", code, code=1).strip().rpartition("\n")[2]
    assert last == f"course_lib.errors.MissingPackageError: {NEEDS_MORE[code]}"


@pytest.mark.slow
def test_the_instructors_commands_say_what_to_install(alone):
    assert "hand-out" in alone("-m", "course_lib.grading", "--help")
    said = alone("-m", "course_lib.grading", "--root", ROOT, "hand-out", "04_tiling", ROOT, code=2)
    assert said.strip() == "The exchange needs nbgrader, which is not installed: run `pip install nbgrader`"


@pytest.mark.slow
def test_a_cell_that_wants_colours_keeps_its_text_and_says_what_to_install(alone):
    code = SHELL.replace("--run A B --check", "--list").replace(".raise_error()", "") + "print(len(shell.user_ns['mine']))"
    out = alone("-c", code)
    assert "MissingPackageError: course_lib.plots needs matplotlib" in out
    assert "Traceback" not in out
