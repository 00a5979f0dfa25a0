"""A process that translates ahead: it is found to have done its work, it is in nobody's way, and nothing of it stays behind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from launching import INT, launch

from course_lib import simt
from course_lib.simt.codegen import native
from course_lib.simt.host import ahead, build
from course_lib.toolchain import background, nvrtc
from course_lib.toolchain.background import Helper

SOURCE = 'extern "C" __global__ void f(int* out) { out[threadIdx.x] = threadIdx.x * NUMBER; }'
WAIT_S = 60.0
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and priorities of POSIX")


def order(source=SOURCE):
    """Return an order for a kernel that no cache has."""
    return {"source": source, "entry": "f", "block": [32, 1, 1], "defines": {"NUMBER": random.randrange(2**30)}, "arch": "sm_90"}


@pytest.fixture
def helper(monkeypatch):
    made = Helper(ahead.__name__)
    monkeypatch.setattr(ahead, "_helpers", [made])
    monkeypatch.setattr(background, "NICE", 0)                  # a test does not wait for everybody else
    yield made
    made.close()


def test_a_launch_finds_everything_translated(helper, monkeypatch):
    asked = order()
    assert simt.translate_ahead(asked["source"], "f", (32, 1, 1), defines=asked["defines"])

    def never(*_, **__):
        raise AssertionError("this was to be done already")

    monkeypatch.setattr(nvrtc, "_compile_now", never)
    monkeypatch.setattr(native, "compile_ir", never)
    out = np.zeros(32, INT)
    launch(SOURCE, [out], defines=asked["defines"])
    assert (out == (np.arange(32) * asked["defines"]["NUMBER"]).astype(INT)).all()
    with pytest.raises(AssertionError, match="done already"):
        launch(SOURCE, [out], defines=order()["defines"])


@pytest.mark.slow
def test_what_cannot_be_translated_is_left_to_the_reader(helper):
    assert helper.do(order("wrong")) is False
    assert helper.do(order()) is True, "and the process goes on"
    assert helper.do(order() | {"entry": "g"}) is False


@pytest.mark.slow
@posix
def test_it_has_the_lowest_priority_and_does_not_mind_an_interrupt(helper, monkeypatch):
    monkeypatch.setattr(background, "NICE", 19)
    assert helper.do(order())
    process = helper._process
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
    process.send_signal(signal.SIGINT)
    assert helper.do(order())
    assert helper._process is process


@pytest.mark.slow
@posix
def test_one_that_was_killed_is_replaced(helper):
    assert helper.do(order())
    first = helper._process
    first.kill()
    first.wait()
    assert helper.do(order())
    assert helper._process.pid != first.pid


@pytest.mark.slow
def test_it_ends_when_nothing_is_to_be_done(helper, monkeypatch):
    monkeypatch.setattr(background, "LINGER_S", 0.05)
    assert helper.do(order())
    process = helper._process
    helper._timer.join(WAIT_S)
    assert process.returncode is not None
    assert process.stdin.closed
    assert process.stdout.closed
    assert helper.do(order()), "another one is started when it is wanted"


def test_after_the_end_no_other_is_started(helper):
    assert helper.do(order())
    process = helper._process
    helper.close()
    assert process.returncode is not None
    assert helper.do(order()) is False
    assert helper._process is None


def test_ending_it_frees_a_thread_that_waits_for_its_answer(helper):
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(helper.do(order())))
    waiting.start()
    while helper._process is None:
        time.sleep(0.01)
    helper.close()
    waiting.join(WAIT_S)
    assert answers == [False]


def test_who_has_moved_on_does_not_wait_for_a_turn(helper):
    with helper._turn:
        assert helper.do(order(), lambda: True) is False
    assert helper.do(order(), lambda: True) is False
    assert helper._process is None, "nothing was started for it"


@pytest.mark.parametrize("python", ["nowhere/python", ""])
def test_where_no_process_can_be_started(python, helper, monkeypatch):
    monkeypatch.setattr(sys, "executable", python)
    assert helper.do(order()) is False


def test_what_lies_in_the_working_folder_is_not_taken_for_a_module(helper, monkeypatch, tmp_path):
    (tmp_path / "numpy.py").write_text("raise SystemExit('the reader has a file of this name')")
    monkeypatch.chdir(tmp_path)
    assert helper.do(order())


def test_compiled_kernels_are_let_go(helper):
    out = np.zeros(32, INT)
    launch(SOURCE, [out], defines={"NUMBER": 3})
    assert build._kernels
    build.forget()
    assert not build._kernels


CHILD = """
import sys, threading, time
from course_lib.simt.host import ahead
source = '''SOURCE'''
asked = {"source": source, "entry": "f", "block": [32, 1, 1], "defines": {"NUMBER": NUMBER}, "arch": "sm_90"}
threading.Thread(target=lambda: [ahead._helpers[0].do(asked) for _ in range(1000)], daemon=True).start()
while ahead._helpers[0]._process is None:
    time.sleep(0.01)
print(ahead._helpers[0]._process.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("end", ["killed", "ends", "ends with an exception"])
def test_nothing_stays_when_the_kernel_ends(end):
    last = "raise SystemExit(3)" if end == "ends with an exception" else ""
    text = CHILD.replace("SOURCE", SOURCE).replace("NUMBER}", f"{random.randrange(2**30)}}}") + last
    root = str(Path(ahead.__file__).parents[3])
    child = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env={**os.environ, "PYTHONPATH": root})
    pid = int(child.stdout.readline())
    if end == "killed":
        child.kill()
    _, said = child.communicate("\n", timeout=WAIT_S)
    assert said == ""
    assert child.returncode == {"killed": -signal.SIGKILL, "ends": 0}.get(end, 3)
    until = time.monotonic() + WAIT_S
    while alive(pid):
        assert time.monotonic() < until, "the process outlives the kernel"
        time.sleep(0.05)


def alive(pid):
    """Say whether a process runs; one that ended and that nobody has asked about does not."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(found) and not found.startswith("Z")
