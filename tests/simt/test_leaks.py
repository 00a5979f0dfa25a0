"""A thousand launches leave nothing behind: no memory, no objects, no threads, no open files."""

import os
import subprocess
import sys

import pytest

CHILD = '''
import gc, os, sys, threading
import numpy as np
from course_lib import simt
from course_lib.simt.codegen import library
from course_lib.simt.host import build
from ptx_text import entry

build.MOST_KERNELS = 8
library.runtime()                              # from the usual cache; what follows fills one of its own
os.environ["COURSE_CACHE"] = sys.argv[1]
SOURCE = """extern "C" __global__ void f(int* out, int n) {
    __shared__ int s[64];
    s[threadIdx.x] = n;
    __syncthreads();
    out[n < 0 ? -1 : threadIdx.x] = s[63 - threadIdx.x];
}"""
out = np.zeros(64, np.int32)

def state():
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resident, len(gc.get_objects()), threading.active_count(), len(os.listdir("/proc/self/fd"))

def good(i):
    simt.launch(SOURCE, "f", 4, 64, [out, np.int32(i)], workers=1 + i % 2, racecheck=i % 5 == 0,
                trace=[(0, 0)] if i % 7 == 0 else (), warp_order=i % 3)

def failing(i):
    try:
        simt.launch(SOURCE, "f", 4, 64, [out, np.int32(-1)], workers=1 + i % 2)
    except simt.OutOfBounds:
        return
    raise AssertionError("must fail")

def wrong(i):
    try:
        simt.launch(SOURCE, "f", 4, 64, [out, i])
    except simt.LaunchError:
        return
    raise AssertionError("must fail")

def broken(i):
    try:
        simt.launch(entry(f"frob.b32 %r1, {i};"), "k", 1, 1, [out])
    except simt.SimtError:
        return
    raise AssertionError("must fail")

def another(i):
    """A kernel that there was not before."""
    simt.launch(entry(f"ld.param.u64 %d8, [a]; st.global.b32 [%d8], {next(numbers)};"), "k", 1, 32, [out], workers=1)

numbers = iter(range(1 << 30))
for name, kind, times in (("good", good, 1000), ("failing", failing, 1000), ("wrong", wrong, 1000), ("broken", broken, 300),
                          ("another", another, 200)):
    for i in range(80):
        kind(i)
    before = state()
    for i in range(times):
        kind(i)
    print(name, times, *(b - a for a, b in zip(before, state())), flush=True)
'''


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
def test_launches_leave_nothing_behind(tmp_path):
    done = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, timeout=200,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["good", "failing", "wrong", "broken", "another"]
    for name, *numbers in rows:
        times, resident, objects, threads, files = map(int, numbers)
        assert resident < 6 << 20, (name, resident)
        assert objects < (3 * times if name == "another" else 100), (name, objects)
        assert (threads, files) == (0, 0), name
