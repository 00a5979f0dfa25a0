"""Whatever is wrong with CuPy or the driver, the probe answers with one sentence."""

import textwrap

import pytest

from course_lib.gpu import GpuStatus, probe, status
from course_lib.gpu.status import from_json, to_json

FAKE_RUNTIME = """
    class runtime:
        getDeviceCount = staticmethod(lambda: {count})
        driverGetVersion = staticmethod(lambda: {version})
        getDeviceProperties = staticmethod(lambda i: dict(
            major=9, minor=0, name=b"Fake GPU", totalGlobalMem=1 << 30, multiProcessorCount=4))
    class cuda: pass
    cuda.runtime = runtime
    def fail(text): raise RuntimeError(text)
"""


@pytest.fixture
def fake_cupy(tmp_path, monkeypatch):
    """Put a package called cupy with the given text before the real one, here and in child processes."""
    def put(text):
        (tmp_path / "cupy").mkdir()
        (tmp_path / "cupy" / "__init__.py").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return probe.__wrapped__()
    return put


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize(("text", "words"), [
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended with signal 11"),
    ("import os; os._exit(3)", "ended with exit status 3"),
    ("print('{}'); import os; os._exit(0)", "ended with exit status 0"),
    ("raise ImportError('libcublas.so.13: cannot open shared object file')", "cannot be imported (libcublas.so.13"),
    ("raise OSError()", "cannot be imported (OSError)"),
    (FAKE_RUNTIME.format(count="fail('cudaErrorInsufficientDriver: …')", version=0), "has no NVIDIA driver"),
    (FAKE_RUNTIME.format(count="fail('cudaErrorInsufficientDriver: …')", version=12040),
     "driver supports CUDA 12.4, which is older than the installed CuPy needs"),
    (FAKE_RUNTIME.format(count="fail('cudaErrorNoDevice: …')", version=13000), "sees no GPU"),
    (FAKE_RUNTIME.format(count=0, version=13000), "sees no GPU"),
    (FAKE_RUNTIME.format(count="fail('cudaErrorUnknown: oh')", version="fail('x')"),
     "refused to start (cudaErrorUnknown: oh)"),
    (FAKE_RUNTIME.format(count=1, version=13000), "Fake GPU is there, but a tiny kernel failed on it"),
])
def test_a_broken_gpu_costs_a_sentence(fake_cupy, text, words):
    found = fake_cupy(text)
    assert not found.usable
    assert words in found.reason
    assert "\n" not in found.reason


def test_a_gpu_that_hangs_is_given_up(fake_cupy, monkeypatch):
    monkeypatch.setattr(status, "PATIENCE", 1)
    assert fake_cupy("import time; time.sleep(60)").reason == "the GPU did not answer a tiny kernel within 1 seconds"


def test_without_cupy(monkeypatch):
    monkeypatch.setattr(status.importlib.util, "find_spec", lambda name: None)
    found = probe.__wrapped__()
    assert not found.usable
    assert "not installed" in found.reason


def test_a_status_survives_the_way_between_processes():
    full = GpuStatus(True, "it “works”", "NVIDIA H200", (9, 0), "sm_90", "13.0", "580.65.06", 1 << 37, 132)
    assert from_json(to_json(full)) == full


def test_the_probe_is_asked_once():
    assert probe() is probe()


def test_on_a_real_gpu(gpu):
    assert gpu.name
    assert gpu.arch == f"sm_{gpu.cc[0]}{gpu.cc[1]}"
    assert gpu.memory_bytes > 1 << 28
