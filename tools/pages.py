"""Pages that a tool writes, all of them or what stands between two marks, and the option `--check` of such tools."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

CHECK = click.option("--check", is_flag=True, help="Write nothing; exit with 1 when the page is not what this would write.")


@dataclass(frozen=True)
class Part:
    """What a tool writes of a page: all between two lines; the rest stays as somebody wrote it.

    Attributes
    ----------
    begin, end : str
        The lines, HTML comments.

    >>> tables = Part("<!-- begin -->", "<!-- end -->")
    >>> tables.renewed("Words.\\n<!-- begin --><!-- end -->\\nMore.", "| 1 |")
    'Words.\\n<!-- begin -->\\n\\n| 1 |\\n\\n<!-- end -->\\nMore.'
    """

    begin: str
    end: str

    def split(self, text: str) -> tuple[str, str, str]:
        """Return what stands before the marks, between them and behind them.

        Raises
        ------
        ValueError
            When a mark is missing, or there twice, or they stand in the wrong order: nothing of the page may be lost.
        """
        if text.count(self.begin) != 1 or text.count(self.end) != 1:
            raise ValueError(f"the page must have {self.begin} and {self.end} once each")
        before, rest = text.split(self.begin)
        if self.end not in rest:
            raise ValueError(f"{self.end} stands before {self.begin}")
        between, after = rest.split(self.end)
        return before, between, after

    def renewed(self, text: str, body: str) -> str:
        """Return a page's text with another body between the marks."""
        before, _, after = self.split(text)
        return f"{before}{self.begin}\n\n{body.strip()}\n\n{self.end}{after}"


def write(path: Path, renew: Callable[[str], str], check: bool) -> int:
    """Write a page, or only say whether it is what the tool would write.

    Parameters
    ----------
    path : Path
    renew : callable(text) -> text
        The page's text as it is (\"\" where there is none), and as it should be.
    check : bool
        Write nothing.

    Returns
    -------
    int
        The exit status: 1 when a check finds a difference, else 0.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    new = renew(text)
    if not check:
        path.write_text(new, encoding="utf-8")
        return 0
    same = new == text
    print(f"{path.name} is up to date" if same else f"{path.name} differs: run the tool without --check")
    return int(not same)


def page_command(path: Path, renew: Callable[[str], str]) -> click.Command:
    """Return the command that writes a page, or checks it."""
    @click.command()
    @CHECK
    def command(check: bool) -> None:
        sys.exit(write(path, renew, check))
    return command
