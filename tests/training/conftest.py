"""A GPU that is acted by the simulator, so that what a training run does on a GPU is tested everywhere."""

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.gpu import GpuStatus


class ActedQueue:
    """What `gpu.Queue` does, on NumPy arrays; work is refused while nobody has entered."""

    def __init__(self):
        self.entered, self.recording, self.launched = False, False, []

    def __enter__(self):
        self.entered = True
        return self

    def __exit__(self, *error):
        self.entered = False

    def _act(self, name, work):
        assert self.entered
        self.launched.append(name)
        if not self.recording:
            work()

    def bind(self, compiled, entry, grid, block, args):
        return lambda: self._act(entry, lambda: simt.launch(compiled.ptx, entry, grid, block, list(args)))

    def bind_library(self, A, B, C, alpha, beta, transposed):
        a, b = (x.T if turn else x for x, turn in zip((A, B), transposed, strict=True))

        def work():
            C[...] = np.float32(alpha) * (a @ b) + (np.float32(beta) * C if beta else 0)
        return lambda: self._act("cuBLAS", work)

    def copy(self, target, source):
        assert self.entered
        assert target.shape == source.shape
        target[...] = source

    def wait(self):
        assert self.entered

    def record(self, work):
        self.recording = True
        work()
        self.recording = False
        return work


@pytest.fixture
def acted(monkeypatch):
    """Replace what touches the GPU; return the list of queues that were made."""
    made = []

    def queue():
        made.append(ActedQueue())
        return made[-1]

    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(True, "acted", "NVIDIA X", (9, 0), "sm_90", "13.0", "1.2"))
    monkeypatch.setattr(gpu, "to_device", np.copy)
    monkeypatch.setattr(gpu, "to_host", np.copy)
    monkeypatch.setattr(gpu, "Queue", queue)
    return made
