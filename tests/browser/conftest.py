"""The browser's tests need Chromium: they are skipped without it, unless COURSE_REQUIRE names chromium."""
import pytest
from pictures import browser, opened, page

from tools import required

__all__ = ["browser", "opened", "page"]


@pytest.fixture(scope="session", autouse=True)
def chromium():
    """Find Chromium, or skip, or fail where it is required."""
    try:
        from tools.browser import find_chromium
    except ImportError as error:
        required.missing("chromium", f"the browser's tests need playwright ({error}): `make dev`")
    found = find_chromium()
    if found is None:
        required.missing("chromium", "there is no Chromium here (apt install chromium, or set CHROMIUM to a browser's path)")
    return found
