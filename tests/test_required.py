"""Where tests must not be skipped for want of bubblewrap or Chromium, they fail; CI says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import required

ROOT = Path(__file__).parents[1]


def test_what_is_missing_skips_or_fails(monkeypatch):
    monkeypatch.delenv("COURSE_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        required.missing("chromium", "no browser")
    monkeypatch.setenv("COURSE_REQUIRE", "bubblewrap,chromium")
    with pytest.raises(pytest.fail.Exception, match="no browser"):
        required.missing("chromium", "no browser")


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("demanded", "skipped"), [("", True), ("bubblewrap", False)])
def test_the_sandboxs_tests_run_where_it_is_required(demanded, skipped, monkeypatch, tmp_path):
    """Without bwrap on the path; a test that runs there then fails by itself."""
    monkeypatch.setenv("COURSE_REQUIRE", demanded)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code = "from tools import required; print(required.bubblewrap.args[0])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == str(skipped)


def test_ci_requires_both():
    assert "export COURSE_REQUIRE=bubblewrap,chromium" in (ROOT / ".ci/run").read_text(encoding="utf-8")
