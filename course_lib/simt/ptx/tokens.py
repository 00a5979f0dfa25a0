"""PTX text as a list of tokens that a parser walks along."""

import bisect
import re

from course_lib.simt.errors import PtxSyntaxError

# A directive or modifier is a token of its own (`.param.u64` is two); what begins with a name keeps its parts: `ld.global.f32`, `%tid.x`.
TOKEN = re.compile(
    r"""(?P<numbers>\{\s*(?:0|[1-9]\d*)(?:\s*,\s*(?:0|[1-9]\d*)){63,}\s*\})
      |(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
      |(?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|(?:[0-9]+\.[0-9]*|\.[0-9]+(?!\w))(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|[0-9]+U?)
      |(?P<word>(?:[a-zA-Z][\w$]*|[_$%][\w$]+|_)(?:(?:\.|::)[\w$]+)*|\.[\w$]+(?:::[\w$]+)*)
      |(?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[{}()\[\]<>,;:@!+\-=|*/%&^~?])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
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
        self.ends = [found.start() for found in re.finditer("\n", text)]
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
        line = self.text_line(offset)
        return PtxSyntaxError(f"PTX line {line}: {message}.", line=line)

    def text_line(self, offset: int) -> int:
        """Return the line of the text, counted from 1, in which an offset lies."""
        return bisect.bisect_left(self.ends, offset) + 1

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

    def another(self, closing: str) -> bool:
        """Step over the comma before another item of a list; say False at the mark that closes the list."""
        if self.accept(","):
            if self.peek() == closing:
                raise self.error(f"expected another item after ',', found {closing!r}")
            return True
        if self.peek() != closing:
            raise self.error(f"expected ',' or {closing!r}, found {self.peek()!r}")
        return False

    def last(self, message: str) -> PtxSyntaxError:
        """Return a PtxSyntaxError for the token before the current one."""
        return self.error(message, self.offsets[self.at - 1])

    def name(self, what: str) -> str:
        """Step over an identifier and return it; `what` says what it names."""
        if self.kinds[self.at] != "word" or "." in self.peek() or "::" in self.peek():
            raise self.error(f"expected the name of {what}, found {self.peek()!r}")
        return self.take()

    def integer(self) -> int:
        """Step over an integer literal, with its sign; return its value."""
        sign = -1 if self.accept("-") else 1
        word = self.take()
        try:
            return sign * number(word)
        except ValueError:
            raise self.last(f"expected an integer, found {word!r}") from None

    def skip_to(self, mark: str) -> None:
        """Step over everything up to and including `mark`."""
        while self.take() != mark:
            pass


def number(word: str) -> int:
    """Return the value of an integer literal: decimal, 0x…, 0b… or octal with a leading 0."""
    digits = word.rstrip("U")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    return int(digits, 8 if octal else 0)
