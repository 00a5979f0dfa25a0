"""A process that forks while another thread compiles: the child compiles too, instead of waiting for a thread that it does not have."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, threading, time
from course_lib.toolchain import compile_cuda

def compiled(number):
    return compile_cuda('extern "C" __global__ void f(float* x) { *x = NUMBER; }', defines={"NUMBER": number})

thread = threading.Thread(target=lambda: [compiled(number) for number in range(3)])
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    signal.alarm(60)
    compiled(0), compiled(7)
    os._exit(0)
_, status = os.waitpid(child, 0)
thread.join()
print(status)
"""


@pytest.mark.sampled(test=1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("delay", [0, 0.03, 0.15])
def test_a_fork_waits_for_the_compiler(delay, tmp_path):
    environment = os.environ | {"COURSE_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT, str(delay)], env=environment, text=True, capture_output=True,
                          timeout=120, check=False)
    assert done.stdout == "0\n", done.stderr
