"""Long kernels: what LLVM needs for the values of one function fits onto the stack of the thread that runs it."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.codegen.uniform import variant
from course_lib.simt.host import workers

ROOT = Path(__file__).parents[2]
LAUNCH = """
import sys, threading
import numpy as np
from course_lib import simt
from tests.simt.test_frames import launch
op, bits, count, stack = sys.argv[1], *map(int, sys.argv[2:])
threading.stack_size(stack)
found, expected = launch(op, bits, count), launch(op, bits, count, warp_order="interleaved")
assert np.array_equal(found, expected), "uniform and reference code differ"
print("done")
"""


def straight(op, bits, count, registers=64):
    """PTX of a thread that loads registers, combines them `count` times and stores them."""
    lines = [f"ld.global.b{bits} %r{i}, [%at+{bits // 8 * i}];" for i in range(registers)]
    lines += [f"{op} %r{i % registers}, %r{i % registers}, %r{(7 * i + 1) % registers}, %r{(5 * i + 3) % registers};" for i in range(count)]
    lines += [f"st.global.b{bits} [%at+{bits // 8 * i}], %r{i};" for i in range(registers)]
    head = f".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b{bits} %r<{registers}>;\n"
    return head + "\n".join([".reg .b32 %t;", ".reg .b64 %p, %at;", "ld.param.u64 %p, [p];", "cvta.to.global.u64 %p, %p;",
                             "mov.u32 %t, %tid.x;", f"mad.wide.u32 %at, %t, {bits // 8 * registers}, %p;", *lines, "ret;", "}"])


def launch(op, bits, count, **options):
    numbers = np.random.default_rng(3).integers(0, 1 << 30, (32, 64), dtype=f"u{bits // 8}")
    simt.launch(straight(op, bits, count), "k", 1, 32, [numbers], **options)
    return numbers


@pytest.mark.sampled(test=1, slow=2)
@pytest.mark.parametrize(("op", "bits", "count", "stack"), [("fma.rn.f16x2", 32, 2048, 0), ("fma.rn.relu.bf16x2", 32, 2048, 0),
                                                     ("mad.lo.s64", 64, 2500, 1 << 19)])
def test_a_long_kernel_runs_on_a_stack_that_holds_its_frame(op, bits, count, stack):
    """The process died with SIGSEGV: of 8 MB for two thousand multiply-adds of halves, or where a thread has half a MB."""
    answer = subprocess.run([sys.executable, "-c", LAUNCH, op, str(bits), str(count), str(stack)], cwd=ROOT, capture_output=True, text=True,
                            timeout=300)
    assert (answer.returncode, answer.stdout) == (0, "done\n"), answer.stderr[-1500:]


def test_a_kernel_that_is_too_long_for_any_stack_runs_in_reference_code(monkeypatch):
    expected = launch("mad.lo.s32", 32, 77)
    monkeypatch.setattr(variant, "MOST_LINES", 100)
    monkeypatch.setattr(variant, "LONG", 99)
    source = straight("mad.lo.s32", 32, 77) + "\n"
    numbers = np.random.default_rng(3).integers(0, 1 << 30, (32, 64), dtype="u4")
    simt.launch(source.replace("%at", "%where"), "k", 1, 32, [numbers])       # a text that no cache holds
    assert np.array_equal(numbers, expected)


def test_threads_with_large_stacks_leave_the_size_of_others_alone():
    before, done = threading.stack_size(), threading.Event()
    workers.submit(64 << 20, lambda _: done.set(), None)
    assert done.wait(10)
    assert threading.stack_size() == before
