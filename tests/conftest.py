"""What holds for every test: which of many parameters `make test` takes, and that no test depends on a time."""

from itertools import groupby

import pytest

try:
    from hypothesis import settings
except ImportError:                     # a machine that has only what the lessons need
    pass
else:
    settings.register_profile("course", deadline=None)
    settings.load_profile("course")


def spread(items, n):
    """Return n of the items, evenly spread, the first among them.

    >>> spread("abcdefgh", 3), spread("ab", 5)
    (['a', 'c', 'f'], ['a', 'b'])
    """
    return [items[i * len(items) // n] for i in range(n)] if n < len(items) else list(items)


@pytest.hookimpl(tryfirst=True)         # before -m chooses by the marks
def pytest_collection_modifyitems(items):
    """Share the parameters of a test marked `sampled(test=n, slow=m)` among `make test`, `make test-slow` and `make test-exhaustive`."""
    sampled = [item for item in items if item.get_closest_marker("sampled")]
    for _, group in groupby(sampled, key=lambda item: (item.path, item.originalname)):
        group = list(group)
        limits = group[0].get_closest_marker("sampled").kwargs
        quick = [item for item in group if not item.get_closest_marker("slow")]
        _leave(quick, limits.get("test"), pytest.mark.slow)
        _leave([item for item in group if item.get_closest_marker("slow")], limits.get("slow"), pytest.mark.exhaustive)


def _leave(items, n, mark):
    """Mark all but n of the items, evenly spread."""
    kept = items if n is None else spread(items, n)
    for item in items:
        if item not in kept:
            item.add_marker(mark)


@pytest.fixture
def wait_s():
    """Return how long a background thread may take before a test fails."""
    return 10.0
