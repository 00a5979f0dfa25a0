"""A kernel that the simulator refuses is refused before the assembler has made machine code of it."""

import threading
import time

import numpy as np
import pytest

from course_lib import simt, toolchain
from course_lib.simt.host import early

REFUSED = 'extern "C" __global__ void k(float* x) { asm volatile("griddepcontrol.wait;"); x[threadIdx.x] = 1; }'
FINE = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] = NUMBER; }'
BROKEN = 'extern "C" __global__ void k(float* x) { asm volatile("add.f32 %0, %1;" : "=f"(x[0]) : "f"(x[1])); }'


@pytest.fixture
def slow_assembler(monkeypatch):
    """Let machine code take until the test ends, or until `let_go` is set."""
    let_go, compile_cuda = threading.Event(), toolchain.compile_cuda

    def compile_slowly(text, **options):
        if options.get("arch", "").startswith("sm_"):
            let_go.wait(60)
        return compile_cuda(text, **options)

    monkeypatch.setattr(toolchain, "compile_cuda", compile_slowly)
    monkeypatch.setattr(early, "PATIENCE_S", 0.05)
    yield let_go
    let_go.set()


def test_a_refusal_does_not_wait_for_machine_code(slow_assembler):
    begun = time.monotonic()
    for _ in range(2):
        with pytest.raises(simt.UnsupportedInstruction, match=r"line 1.*griddepcontrol"):
            simt.launch(REFUSED, "k", 1, 32, [np.zeros(32, np.float32)])
    assert time.monotonic() - begun < 30
    assert not slow_assembler.is_set()
    assert len(early._under_way) == 1                # the same text is not compiled twice


def test_a_kernel_that_is_not_refused_waits_for_its_machine_code(slow_assembler):
    x = np.zeros(32, np.float32)
    threading.Timer(1, slow_assembler.set).start()
    report = simt.launch(FINE, "k", 1, 32, [x], defines={"NUMBER": 7117})
    assert slow_assembler.is_set()
    assert (x == 7117).all()
    assert report.sass


def test_the_compiler_has_the_first_word_on_what_is_no_ptx(slow_assembler):
    threading.Timer(1, slow_assembler.set).start()
    with pytest.raises(simt.CompileError, match="line 1"):
        simt.launch(BROKEN, "k", 1, 32, [np.zeros(32, np.float32)])


def test_a_compilation_that_ended_is_forgotten():
    def fail(reason):
        raise simt.LaunchError(reason)

    with pytest.raises(simt.LaunchError, match="whole"):
        early.compile_early(("a",), lambda: fail("whole"), lambda: fail("ptx"), fail)
    assert ("a",) not in early._under_way
