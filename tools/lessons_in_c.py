"""A pytest plugin for the lessons: without a C compiler, those that compile C are skipped, and the reason says what to install."""

import pytest

from course_lib.toolchain.host_compiler import no_compiler

LESSONS = ("01_triple_loop", "02_cpu")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip every cell of such a lesson where nothing can compile it."""
    reason = no_compiler()
    for item in items:
        if reason and item.path.stem in LESSONS:
            item.add_marker(pytest.mark.skip(reason=reason))
