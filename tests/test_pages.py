"""Pages that tools write: nothing else on them is touched, and a check tells a page that is out of date."""

import importlib

import pytest

from tools.pages import Part, write

TABLES = Part("<!-- written by a tool -->", "<!-- end of tables -->")
PAGE = "# Title\n\nWords.\n\n<!-- written by a tool -->\n\n| 1 |\n\n<!-- end of tables -->\n\nMore words.\n"


def test_only_what_stands_between_the_marks_changes():
    new = TABLES.renewed(PAGE, "| 2 |\n")
    assert new == PAGE.replace("| 1 |", "| 2 |")
    assert TABLES.split(new) == ("# Title\n\nWords.\n\n", "\n\n| 2 |\n\n", "\n\nMore words.\n")
    assert TABLES.renewed(new, "| 2 |") == new


@pytest.mark.parametrize("broken", [
    PAGE.replace(TABLES.begin, ""), PAGE.replace(TABLES.end, ""), PAGE + TABLES.end, PAGE.replace("Words", TABLES.begin),
    f"{TABLES.end} {TABLES.begin}", "",
])
def test_a_page_without_its_marks_is_not_overwritten(broken, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(broken)
    with pytest.raises(ValueError, match="end of tables"):
        write(path, lambda text: TABLES.renewed(text, "| 2 |"), check=False)
    assert path.read_text() == broken


def test_a_check_writes_nothing_and_tells_a_difference(tmp_path, capsys):
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")

    def renew(text):
        return TABLES.renewed(text, "| λ |")

    assert write(path, renew, check=True) == 1
    assert "page.md differs" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == PAGE
    assert write(path, renew, check=False) == 0
    assert "| λ |" in path.read_text(encoding="utf-8")
    assert write(path, renew, check=True) == 0
    assert "up to date" in capsys.readouterr().out


def test_a_page_that_is_not_there_yet_is_written(tmp_path):
    assert write(tmp_path / "page.md", lambda text: f"{text}all of it", check=True) == 1
    assert write(tmp_path / "page.md", lambda text: f"{text}all of it", check=False) == 0
    assert (tmp_path / "page.md").read_text() == "all of it"


@pytest.mark.parametrize("name", ["attacks", "machine_code", "microbenchmarks", "seeds", "time_bound"])
def test_each_tools_page_has_its_marks(name):
    tool = importlib.import_module(f"tools.page.{name}")
    assert f"python -m tools page {name.replace('_', '-')}" in tool.TABLES.begin
    assert tool.TABLES.split(tool.PAGE.read_text(encoding="utf-8"))[1].strip()
