"""Pages that a tool writes, all of them or what stands between two marks, and the option `--check` of such tools."""

from dataclasses import dataclass
from pathlib import Path


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

    def split(self, text):
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
        return before, *rest.split(self.end)

    def renewed(self, text, body):
        """Return a page's text with another body between the marks."""
        before, _, after = self.split(text)
        return f"{before}{self.begin}\n\n{body.strip()}\n\n{self.end}{after}"


def write(path, renew, arguments):
    """Write a page, or with `--check` say whether it is what the tool would write.

    Parameters
    ----------
    path : Path
    renew : callable(text) -> text
        The page's text as it is (\"\" where there is none), and as it should be.
    arguments : sequence of str
        Of the command line.

    Returns
    -------
    int
        The exit status: 1 when a check finds a difference, else 0.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    new = renew(text)
    if "--check" not in arguments:
        path.write_text(new, encoding="utf-8")
        return 0
    same = new == text
    print(f"{path.name} is up to date" if same else f"{path.name} differs: run the tool without --check")
    return int(not same)
