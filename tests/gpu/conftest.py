"""`gpu` runs a test on a real GPU, or skips it and says why there is none."""

import os

import pytest

from course_lib.gpu import probe


@pytest.fixture(scope="session")
def gpu():
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    status = probe()
    if not status.usable:
        pytest.skip(f"no GPU to test on: {status.reason}")
    return status
