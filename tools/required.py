"""What tests need of the machine besides Python: bubblewrap and Chromium. Without them tests are skipped, where they may be.

COURSE_REQUIRE=bubblewrap,chromium says that they must not be: a test that cannot run for want of them then fails. `.ci/run` sets it.
"""

import os

import pytest

from course_lib.grading.sandbox.bubblewrap import problem


def is_required(name: str) -> bool:
    """Return whether tests may not be skipped for want of something.

    >>> os.environ["COURSE_REQUIRE"] = "bubblewrap, chromium"
    >>> is_required("chromium"), is_required("gpu"), os.environ.pop("COURSE_REQUIRE")
    (True, False, 'bubblewrap, chromium')
    """
    return name in [word.strip() for word in os.environ.get("COURSE_REQUIRE", "").split(",")]


def missing(name: str, words: str) -> None:
    """Skip a test that lacks something, or fail it where that is required."""
    if is_required(name):
        pytest.fail(f"COURSE_REQUIRE names {name}, but {words}")
    pytest.skip(words)


bubblewrap = pytest.mark.skipif(bool(problem()) and not is_required("bubblewrap"), reason=str(problem()))
