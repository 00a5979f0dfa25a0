"""The sandbox gives what the simulator gives here, lets nothing out or in that it should not, and leaves nothing behind."""

import dataclasses
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from course_lib import kernels, simt
from course_lib.errors import CourseError
from course_lib.grading import check, part
from course_lib.grading.judge.engine import Here
from course_lib.grading.sandbox import bubblewrap, replies, sandboxed, wire
from course_lib.grading.sandbox.process import SandboxProcess
from course_lib.grading.sandbox.sandboxed import Sandboxed
from course_lib.toolchain import CompileError, disk, sass
from tools import required

ROOT = Path(__file__).parents[3]
pytestmark = required.bubblewrap
TILED = kernels.get("sgemm_tiled").source.replace("__syncthreads();                       // nobody over", ";  // nobody over")
RIGHT = ROOT / "tests/right_kernels/04_tiling/different.cu"
SCALE = 'extern "C" __global__ void scale(float* x, int n) {\n  int i = threadIdx.x;\n  if (i < n) x[i] *= 2;\n}'


@pytest.fixture(scope="module")
def engine():
    cache = disk.cache_folder().parent.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    with Sandboxed(cache=cache) as engine:
        yield engine
    assert not alive(engine)


@pytest.fixture(autouse=True)
def _clock(engine):
    engine.begin()


def alive(engine):
    """Return whether a sandbox still runs."""
    return engine.sandbox is not None and engine.sandbox.process.poll() is None


def sgemm_arguments():
    rng = np.random.default_rng(3)
    A, B, C = (rng.uniform(-1, 1, 48 * 48).astype(np.float32) for _ in range(3))
    A.flags.writeable = False
    n = np.int32(48)
    return [n, n, n, np.float32(1.5), A, n, B, n, np.float32(0.5), C, n]


def test_the_process_for_kernels_loads_nothing_that_judges():
    """It starts for every submission, and has no use for checks, exercises and tables."""
    code = "import sys, course_lib.grading.sandbox.inside; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = ("course_lib.check", "course_lib.run", "course_lib.plots", "course_lib.grading.judge", "course_lib.grading.exercises")
    assert [name for name in loaded if name.startswith(others)] == []


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.slow
def test_a_launch_is_the_same_as_here(engine):
    found = []
    for one in (Here(), engine):
        args = sgemm_arguments()
        report = one.launch(TILED, "sgemm_tiled", (2, 2), (32, 32), args, racecheck=True, trace=[((0, 0, 0), 0)], max_steps=100_000)
        found.append((report, args[-2]))
    (here, C), (there, other) = found
    assert np.array_equal(C, other)
    assert here.hazards
    assert here.hazards == there.hazards
    for name in ("kernel", "counters", "lines", "steps", "ptx", "output", "shared", "arrays"):
        assert _plain(getattr(here, name)) == _plain(getattr(there, name)), name
    assert len(here.trace) == len(there.trace) > 0
    for one, two in zip(here.trace, there.trace, strict=True):
        assert np.array_equal(one.addresses, two.addresses)
        assert dataclasses.replace(one, addresses=None) == dataclasses.replace(two, addresses=None)
    assert there.loops == here.loops != ()
    assert there.resources == here.resources
    assert dict(there.level) == dict(here.level)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sgemm_naive", "sgemm_2d_tile", "sgemm_block"])
def test_machine_code_is_the_same_as_here(name, engine):
    source = kernels.get(name).source
    here, there = Here().compile(source, name), engine.compile(source, name)
    assert there.ptx == here.ptx
    assert sass(there, kernels.get(name).entry) == sass(here, kernels.get(name).entry)


@pytest.mark.parametrize(("text", "size", "error"), [
    (SCALE.replace("if (i < n) ", ""), 3, simt.OutOfBounds), (SCALE.replace("x[i]", "*(float*)((char*)x + 1)"), 4, simt.Misaligned),
    (SCALE.replace("if (i < n)", "while (n)"), 4, simt.StepBudgetExceeded), (SCALE.replace("x[i] *= 2", "__trap()"), 4, simt.KernelTrap)])
def test_an_error_has_its_class_its_words_and_its_line(text, size, error, engine):
    caught = []
    for one in (Here(), engine):
        with pytest.raises(error) as found:
            one.launch(text, "scale", 1, 32, [np.ones(size, np.float32), np.int32(size)], max_steps=10_000)
        caught.append(found.value)
    assert str(caught[0]) == str(caught[1])
    assert caught[0].line == caught[1].line == 3


def test_a_text_that_does_not_compile_is_told_line_by_line(engine):
    caught = []
    for one in (Here(), engine):
        with pytest.raises(CompileError) as found:
            one.compile(SCALE.replace("*= 2", "*= two"), "scale")
        caught.append([str(found.value), *((d.line, d.message, d.source_line, d.severity) for d in found.value.diagnostics)])
    assert caught[0] == caught[1]
    with pytest.raises(CourseError, match="NUL"):
        engine.compile("int \0x;", "scale")


def test_aliases_scalars_and_views_arrive_as_they_are(engine):
    text = ('extern "C" __global__ void k(double* x, const double* y, short n) '
            "{ x[threadIdx.x] = y[threadIdx.x + 1] + n; }")
    x = np.arange(33, dtype=np.float64)
    engine.launch(text, "k", 1, 32, [x, x, np.int16(5)])
    assert x.tolist() == [i + 1 + 5 for i in range(32)] + [32]
    with pytest.raises(CourseError, match="gaps"):
        engine.launch(text, "k", 1, 32, [np.zeros(8)[::2], x, np.int16(5)])
    with pytest.raises(TypeError, match="workers"):
        engine.launch(text, "k", 1, 32, [x, x, np.int16(5)], workers=1)


@pytest.mark.slow
def test_neither_seed_nor_verdict_nor_expected_values_are_handed_over(engine, monkeypatch):
    seed, spec = 987_654_321_012_345_678, part("04_tiling", "tile")
    sent = []
    send = SandboxProcess.send
    monkeypatch.setattr(SandboxProcess, "send", lambda self, data, deadline: (sent.append(bytes(data)), send(self, data, deadline)))
    judged = []
    judge = spec.operation.judge
    monkeypatch.setattr(type(spec.operation), "judge", lambda self, trial: (judged.append(trial.C.tobytes()), judge(trial))[1])
    assert check(RIGHT.read_text(encoding="utf-8"), spec, seed=seed, engine=engine).passed
    everything = b"".join(sent)
    assert len(judged) > 12
    assert len(everything) > 50_000
    secrets = (str(seed), spec.title, "drawn", "sectors", str(spec.gates[0].limit))
    assert not [secret for secret in secrets if secret.encode() in everything]
    assert seed.to_bytes(8, "little") not in everything
    assert not [result for result in judged if len(result) > 64 and result in everything]


ANSWERS = {                                # text -> what f(3), then f(5) give; an exception by its name
    "def f(x): return x / 4": (0.75, 1.25),
    "def f(x): return np.float32(x), np.int64(x), math.tau": ((3.0, 3, math.tau), (5.0, 5, math.tau)),
    "f = lambda x: x": (3, 5),
    "def f(x): return 1 / (x - 3)": ("ZeroDivisionError", 0.5),
    "def f(x): return None": ("shown None: is there a `return` with the result?",) * 2,
    "def f(x): return '3'": ("shown a text, '3'",) * 2,
    "def f(x): return True": ("shown a bool, True",) * 2,
    "def f(x): return 1 << 10 ** x - 1": (1 << 999, "shown a whole number of some 30103 digits, too large for a float"),
    "def f(x): return float('nan') if x > 3 else float('-inf')": (-math.inf, "nan"),
    "def f(x): return x\nraise SystemExit(0)": ("SystemExit",),
    "import os\nos._exit(0)": ("ended",),
    "def f(x):\n  import os\n  os._exit(0) if x > 3 else None\n  return x": (3, "ended"),
    "import os\ndef f(x): return os.fork()": ("PermissionError",) * 2,
    "import os, threading\nthreading.Thread(target=lambda: print('x' * 10**6)).start()\ndef f(x): return x": (3, 5),
    "import subprocess\ndef f(x): return subprocess.run(['/usr/bin/true']).returncode": ("PermissionError",) * 2,
    "import ctypes\ndef f(x): return ctypes.CDLL(None).fork()": (-1, -1),
    "import socket\ndef f(x): return socket.create_connection(('127.0.0.1', 9), 1)": ("ConnectionRefusedError",) * 2,
    "def f(x): return 'x' * 10**10": ("MemoryError",) * 2,
    "import course_lib\ndef f(x): return x": ("ModuleNotFoundError",),
    "from IPython import get_ipython\ndef f(x): return 2 if get_ipython() is None else 1": (2, 2),
    "%time\ndef f(x): return x": ("SyntaxError",),
    "def g(x): return x": ("missing",),
    "import builtins, json\njson.dumps = builtins.len = lambda *a: 'x'\ndef f(x): return x": ("ended",),
    "import atexit\natexit.register(print, 'x' * 10**6)\ndef f(x): return x": (3, 5),
    "import sys\nsys.stdout.write('x' * 10**7); sys.stderr.write('x' * 10**7)\ndef f(x): return x": (3, 5),
}


@pytest.mark.sampled(test=8)
@pytest.mark.parametrize("text", ANSWERS)
def test_a_function_gives_numbers_or_says_what_went_wrong(text, engine):
    def plain(got):
        if isinstance(got, replies.Raised):
            return got.name
        if isinstance(got, replies.Ended):
            return "ended"
        return f"shown {got}" if isinstance(got, replies.Shown) else "nan" if got != got else got

    assert [plain(got) for got in engine.call(text, "f", [(3,), (5,)])] == [got for got in ANSWERS[text] if got != "missing"]


@pytest.mark.slow
def test_an_endless_function_ends_with_the_time(engine, monkeypatch):
    monkeypatch.setattr(sandboxed, "ANSWER_SECONDS", 1.5)
    found = list(engine.call("def f(x):\n  while x > 3: pass\n  return x", "f", [(3,), (5,), (7,)]))
    assert found[0] == 3
    assert [type(got).__name__ for got in found] == ["int", "TookTooLong"]


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("header", ["mma.h", "cuda_bf16.h", "cooperative_groups.h", "cuda/std/array"])
def test_nvidias_headers_can_be_included(engine, header):
    """The compiler sees them, though not the wheels that say where they are."""
    assert ".entry scale(" in engine.compile(f"#include <{header}>\n{SCALE}", "scale").ptx


def test_a_functions_world_is_python_and_nothing_else(engine):
    places = [str(ROOT), str(ROOT / "course_lib"), str(ROOT / "solutions"), "/proc/self", "/etc/passwd", "/dev/zero", "/course", "/headers",
              "/dev/null"]
    text = f"""import os
def f(x):
    return [int(path == '/dev/null' or os.path.isfile(path) or os.path.isdir(path) and len(os.listdir(path)) > 0) for path in {places}]"""
    seen = dict(zip(places, *engine.call(text, "f", [(1,)]), strict=True))
    if ROOT in Path(os.path.abspath(os.sys.prefix)).parents:
        del seen[str(ROOT)]                # of which only the way to .venv is there
    assert [place for place, there in seen.items() if there] == ["/dev/null"]
    text = """import errno, os
def f(x):
    found = []
    for path in ('/x', '/usr/x', '/answer.py', '/work', os.__file__):
        try:
            open(path, 'a').close()
        except OSError as error:
            found.append(error.errno in (errno.EROFS, errno.EISDIR, errno.EACCES))
    return found.count(True)"""
    assert list(engine.call(text, "f", [(1,)])) == [5]
    kept, = engine.call("def f(x):\n  for i in range(100):\n    open(f'/tmp/{i}', 'wb').write(b'x' * 10**6)", "f", [(1,)])
    assert (kept.name, "No space" in str(kept)) == ("OSError", True)


def test_nothing_goes_on_after_the_answer(engine):
    mark = f"course-{os.getpid()}-{time.monotonic_ns()}"
    text = (f"import ctypes, threading, time\nctypes.CDLL(None).prctl(15, b'{mark[-15:]}', 0, 0, 0)\n"
            "threading.Thread(target=lambda: time.sleep(600)).start()\ndef f(x): return x")
    assert list(engine.call(text, "f", [(3,)])) == [3]
    time.sleep(0.2)
    names = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            names.append(path.read_text(encoding="utf-8").strip())
        except OSError:
            continue
    assert mark[-15:] not in names


@pytest.mark.slow
def test_what_broke_is_replaced_for_the_next_part(engine):
    engine.compile(SCALE, "scale")
    first = engine.sandbox.process.pid
    with pytest.raises(replies.Ended):
        engine._ask("no such work", {}, lambda told: told)
    assert engine.sandbox is None
    x = np.ones(4, np.float32)
    engine.launch(SCALE, "scale", 1, 32, [x, np.int32(4)])
    assert x.tolist() == [2] * 4
    assert engine.sandbox.process.pid != first


def test_a_library_that_shows_through_is_covered(monkeypatch):
    monkeypatch.setattr(bubblewrap, "LIBRARY", Path(os.sys.prefix) / "lib/site-packages/course_lib")
    command, _ = bubblewrap.for_answers(unsafe=False)
    at = command.index("--tmpfs", command.index("--tmpfs") + 1)
    assert command[at + 1] == str(bubblewrap.LIBRARY)
    assert wire.MOST_TEXT < wire.MOST_TRACE
