"""Ctrl-C ends a launch soon, wherever it runs, and leaves the process as it was."""

import os
import subprocess
import sys

import pytest

CHILD = '''
import _thread, faulthandler, os, signal, sys, threading, time
faulthandler.dump_traceback_later(100, exit=True)       # where it hangs, if it does
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs this in the background has it ignored
import numpy as np
from course_lib import simt

FINE = 'extern "C" __global__ void f(int* out) { out[threadIdx.x] = threadIdx.x; }'
SPINS = """extern "C" __global__ void f(volatile int* out) { while (out[0] == 0) out[1] += 1; }"""
DIVERGED = """extern "C" __global__ void f(volatile int* out) { if (threadIdx.x & 1) while (out[0] == 0) out[1] += 1; }"""
WAITS = """extern "C" __global__ void f(volatile int* out) { while (out[0] == 0) { out[1] += 1; __syncthreads(); } }"""
ATOMIC = """extern "C" __global__ void f(int* out) { while (atomicAdd(out + 1, 1) >= 0) atomicExch(out + 1, 0); }"""
SHORT = """extern "C" __global__ void f(volatile int* out) { out[threadIdx.x] += 1; }"""
CASES = {
    "one block": (SPINS, 1, {"workers": 1}), "one worker": (SPINS, 8, {"workers": 1}), "two workers": (SPINS, 8, {"workers": 2}),
    "diverged lanes": (DIVERGED, 8, {"workers": 2}), "racecheck": (SPINS, 8, {"racecheck": True}),
    "in turns": (WAITS, 8, {"warp_order": "interleaved"}), "barriers": (WAITS, 8, {"workers": 2}), "atomics": (ATOMIC, 8, {}),
    "progress": (SPINS, 8, {"progress": lambda done, total: None}), "huge grid": (SHORT, (2**31 - 1, 65535, 65535), {"workers": 2}),
    "huge grid of one worker": (SHORT, (2**31 - 1, 65535, 65535), {"workers": 1}),
}

def works():
    out = np.zeros(64, np.int32)
    simt.launch(FINE, "f", 1, 64, [out])
    assert (out == np.arange(64)).all()

works()
threads = threading.active_count()
for name in sys.argv[1:]:
    source, grid, how = CASES[name]
    out = np.zeros(64, np.int32)
    try:
        simt.launch(source, "f", 1, 64, [out], max_steps=2000, **{**how, "progress": None}) if source is not SHORT else None
    except simt.StepBudgetExceeded:
        pass                                   # now it is compiled
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        simt.launch(source, "f", grid, 64, [out], max_steps=10**15, **how)
    except KeyboardInterrupt:
        print("interrupted:", name, flush=True)
    timer.join()
    assert (out == 0).all()
    works()
    assert threading.active_count() <= threads + 2
'''
CASES = ["one block", "one worker", "two workers", "diverged lanes", "racecheck", "in turns", "barriers", "atomics", "progress",
         "huge grid", "huge grid of one worker"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_ends_a_launch_and_the_next_one_works():
    done = subprocess.run([sys.executable, "-c", CHILD, *CASES], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [f"interrupted: {name}" for name in CASES]
