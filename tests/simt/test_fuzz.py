"""Broken launches by the hundred: every one runs or raises an error of the simulator's own types; no crash, no hang."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzzing.py")


def fuzz(kind, seed, count, timeout):
    """Run in a process of its own, so that a crash is seen; return what came out."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", str(SCRIPT), kind, str(seed), str(count)], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, f"python {SCRIPT} {kind} {seed} {count}\n{done.stderr[-4000:]}"
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["ran"] + told["raised"] == count
    return told


@pytest.mark.parametrize(("kind", "count", "types"), [
    ("launcher", 150, {"LaunchError", "OutOfBounds", "StepBudgetExceeded"}), ("cuda", 30, {"CompileError"}),
    ("ptx", 60, {"PtxSyntaxError", "OutOfBounds", "UnsupportedInstruction"}),
    ("operands", 60, {"PtxSyntaxError"}),
])
@pytest.mark.slow
def test_broken_launches_have_typed_errors(kind, count, types):
    told = fuzz(kind, 4, count, 120)
    assert told["ran"] > 0
    assert types <= set(told["kinds"])


@pytest.mark.sampled(slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("launcher", 600), ("cuda", 120), ("ptx", 240), ("operands", 900)])
def test_many_broken_launches(kind, count):
    assert fuzz(kind, 5, count, 280)["ran"] > 0


@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(("kind", "count"), [("launcher", 6000), ("cuda", 1200), ("ptx", 2400), ("operands", 20000)])
def test_broken_launches_that_nobody_chose(kind, count):
    assert fuzz(kind, random.SystemRandom().randrange(1 << 32), count, 2800)["ran"] > 0
