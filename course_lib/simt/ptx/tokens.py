"""PTX text as a list of tokens that a parser walks along."""

import re

from course_lib.simt.errors import PtxSyntaxError

TOKEN = re.compile(
    r"""(?P<numbers>\{\s*(?:0|[1-9]\d*)(?:\s*,\s*(?:0|[1-9]\d*)){63,}\s*\})
      |(?P<space>[\s]+|//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
      |(?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|[0-9]+U?)
      |(?P<word>[.%$_a-zA-Z](?:[\w$.]|::)*)
      |(?P<mark>[{}()\[\]<>,;:@!+\-=|])""",
    re.VERBOSE | re.DOTALL,
)
CONSTANTS = {"WARP_SZ": "32"}  # names that the language itself gives to numbers; compilers write it for `warpSize`


class Tokens:
    """The tokens of a text; `self.at` is the next one. Comments and spaces are left out.

    A long list of plain numbers in braces is one token, of the kind "numbers": headers bring tables of 100,000 bytes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[str] = []
        self.words: list[str] = []
        self.offsets: list[int] = []
        offset = 0
        while offset < len(text):
            found = TOKEN.match(text, offset)
            if not found:
                raise self.error(f"unreadable character {text[offset]!r}", offset)
            if found.lastgroup != "space":
                constant = CONSTANTS.get(found.group())
                self.kinds.append("number" if constant else found.lastgroup or "")
                self.words.append(constant or found.group())
                self.offsets.append(offset)
            offset = found.end()
        self.kinds.append("end")
        self.words.append("")
        self.offsets.append(len(text))
        self.at = 0

    def error(self, message: str, offset: int | None = None) -> PtxSyntaxError:
        """Return a PtxSyntaxError for the current token, or for an offset into the text."""
        offset = self.offsets[self.at] if offset is None else offset
        line = self.text.count("\n", 0, offset) + 1
        return PtxSyntaxError(f"PTX line {line}: {message}.", line=line)

    def peek(self) -> str:
        """Return the next token."""
        return self.words[self.at]

    def take(self, expected: str | None = None) -> str:
        """Return the next token and step over it; it must be `expected` when that is given."""
        word = self.words[self.at]
        if self.kinds[self.at] == "end":
            raise self.error("the text ends in the middle of a statement")
        if expected is not None and word != expected:
            raise self.error(f"expected {expected!r}, found {word!r}")
        self.at += 1
        return word

    def accept(self, word: str) -> bool:
        """Step over the next token if it is `word`; say whether it was."""
        if self.words[self.at] == word:
            self.at += 1
            return True
        return False

    def integer(self) -> int:
        """Step over an integer, with its sign; return its value."""
        sign = -1 if self.accept("-") else 1
        word = self.take()
        try:
            return sign * number(word)
        except ValueError:
            raise self.error(f"expected an integer, found {word!r}") from None

    def skip_to(self, mark: str) -> None:
        """Step over everything up to and including `mark`."""
        while self.take() != mark:
            pass


def number(word: str) -> int:
    """Return the value of an integer literal: decimal, 0x…, 0b… or octal with a leading 0."""
    digits = word.rstrip("U")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    return int(digits, 8 if octal else 0)
