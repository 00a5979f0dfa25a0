"""PTX text as a list of tokens that a parser walks along."""

import re

from course_lib.simt.errors import PtxSyntaxError

TOKEN = re.compile(
    r"""(?P<space>[\s]+|//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
      |(?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|[0-9]+U?)
      |(?P<word>[.%$_a-zA-Z](?:[\w$.]|::)*)
      |(?P<mark>[{}()\[\]<>,;:@!+\-=|])""",
    re.VERBOSE | re.DOTALL,
)


class Tokens:
    """The tokens of a text; `self.at` is the next one. Comments and spaces are left out."""

    def __init__(self, text):
        self.text = text
        self.kinds, self.words, self.places = [], [], []
        place = 0
        while place < len(text):
            found = TOKEN.match(text, place)
            if not found:
                raise self.error(f"unreadable character {text[place]!r}", place)
            if found.lastgroup != "space":
                self.kinds.append(found.lastgroup)
                self.words.append(found.group())
                self.places.append(place)
            place = found.end()
        self.kinds.append("end")
        self.words.append("")
        self.places.append(len(text))
        self.at = 0

    def error(self, message, place=None):
        """Return a PtxSyntaxError for the current token, or for a place in the text."""
        place = self.places[self.at] if place is None else place
        line = self.text.count("\n", 0, place) + 1
        return PtxSyntaxError(f"PTX line {line}: {message}.", line=line)

    def peek(self):
        """Return the next token."""
        return self.words[self.at]

    def take(self, expected=None):
        """Return the next token and step over it; it must be `expected` when that is given."""
        word = self.words[self.at]
        if self.kinds[self.at] == "end":
            raise self.error("the text ends in the middle of a statement")
        if expected is not None and word != expected:
            raise self.error(f"expected {expected!r}, found {word!r}")
        self.at += 1
        return word

    def accept(self, word):
        """Step over the next token if it is `word`; say whether it was."""
        if self.words[self.at] == word:
            self.at += 1
            return True
        return False

    def integer(self):
        """Step over an integer, with its sign; return its value."""
        sign = -1 if self.accept("-") else 1
        word = self.take()
        try:
            return sign * number(word)
        except ValueError:
            raise self.error(f"expected an integer, found {word!r}") from None

    def skip_to(self, mark):
        """Step over everything up to and including `mark`."""
        while self.take() != mark:
            pass


def number(word):
    """Return the value of an integer literal: decimal, 0x…, 0b… or octal with a leading 0."""
    digits = word.rstrip("U")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    return int(digits, 8 if octal else 0)
