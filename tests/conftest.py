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
    """Mark all but n of the parameters of a test that is marked `sampled(n)` as slow, of those that are not so already."""
    sampled = [item for item in items if item.get_closest_marker("sampled") and not item.get_closest_marker("slow")]
    for _, group in groupby(sampled, key=lambda item: (item.path, item.originalname)):
        group = list(group)
        kept = spread(group, group[0].get_closest_marker("sampled").args[0])
        for item in group:
            if item not in kept:
                item.add_marker(pytest.mark.slow)
