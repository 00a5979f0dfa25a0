"""The browser's tests need Chromium: they are skipped without it, unless REQUIRE_BROWSER=1 says that it must be there."""
import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def chromium():
    """Find Chromium, or skip, or fail where it is required."""
    lab_browser = pytest.importorskip("lab_browser", reason="the browser's tests need playwright: `make dev`")
    found = lab_browser.find_chromium()
    if found is None and os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail("REQUIRE_BROWSER=1, but there is no Chromium: apt install chromium")
    if found is None:
        pytest.skip("no Chromium here (apt install chromium, or set CHROMIUM to a browser's path)")
    return found
