"""Launches of small kernels, good and bad, for tests."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.errors import CourseError

INT, FLT = np.int32, np.float32


def launch(source, args, *, grid=1, block=32, name="f", **how):
    return simt.launch(source, name, grid, block, args, **{"workers": 1, **how})


def fault(kind, source, args, **how):
    """Launch a kernel that must fail with this error; return the error."""
    with pytest.raises(kind) as caught:
        launch(source, args, **how)
    error = caught.value
    assert isinstance(error, simt.SimtError)
    assert isinstance(error, CourseError)
    return error
