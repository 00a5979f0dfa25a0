"""What the tests of the CPU programs share: a mark for machines without a C compiler, and matrices."""

import numpy as np
import pytest

from course_lib import toolchain
from course_lib.errors import CourseError


def _reason(ask):
    try:
        ask()
    except CourseError as error:
        return str(error)
    return ""


NO_COMPILER = _reason(toolchain.host_compiler)
NO_OPENMP = NO_COMPILER or _reason(lambda: toolchain.host_compiler().openmp())
needs_c = pytest.mark.skipif(bool(NO_COMPILER), reason=NO_COMPILER)
needs_openmp = pytest.mark.skipif(bool(NO_OPENMP), reason=NO_OPENMP)


def matrices(M, N, K, pads=(0, 0, 0), dtype=np.float32):
    """Return A, B, C of random numbers whose rows are padded by so many elements."""
    rng = np.random.default_rng([M, N, K])
    shapes = ((M, K), (K, N), (M, N))
    return [rng.standard_normal((r, c + pad)).astype(dtype)[:, :c] for (r, c), pad in zip(shapes, pads, strict=True)]
