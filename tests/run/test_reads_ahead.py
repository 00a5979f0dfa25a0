"""What is on its way while a kernel reads shared memory: counted from the trace, against what the kernel's text says."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.run import reads_ahead

COPY = ('asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: '
        '"r"((unsigned)__cvta_generic_to_shared(&s[{0}][t])), "l"(x + t), "r"({1}));\n')
COMMIT, WAIT = 'asm volatile("cp.async.commit_group;");\n', 'asm volatile("cp.async.wait_group {0};" ::: "memory");\n'
READ = "sum += s[{0}][t];\n"


def ahead(*lines):
    """Return the bytes on their way at each read of a small kernel."""
    source = ('extern "C" __global__ void f(const float* x, float* y) {\n__shared__ float s[4][32];\nconst int t = threadIdx.x;\n'
              'volatile float sum = 0;\n' + "".join(lines) + "y[t] = sum;\n}")
    return [read.bytes for read in reads_ahead(simt.launch(source, "f", 1, 32, [np.ones(32, np.float32), np.zeros(32, np.float32)],
                                                          trace=[(0, 0)]))]


def copy(stage, size=4):
    return COPY.format(stage, size)


def test_a_copy_counts_from_its_issue_to_the_wait_that_ends_it():
    assert ahead(copy(0), COMMIT, copy(1), COMMIT, WAIT.format(1), READ.format(0), copy(2), COMMIT, READ.format(0),
                 WAIT.format(0), READ.format(1)) == [128, 256, 0]


def test_a_copy_that_no_group_holds_and_one_of_zeros():
    assert ahead(copy(0), COMMIT, WAIT.format(0), copy(1), READ.format(0)) == [128], "it is under way all the same"
    assert ahead(copy(0), COMMIT, WAIT.format(0), copy(1, 0), COMMIT, READ.format(0)) == [0], "zeros are asked of nobody"


def test_without_a_wait_nothing_is_told():
    with pytest.raises(CourseError, match="no traced warp waits"):
        ahead("s[0][t] = x[t];\n", READ.format(0))
