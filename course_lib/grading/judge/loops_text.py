"""Which texts are taken as loops for the CPU, and the kernel that is made of them.

Loops get at memory by A(i, k), B(k, j) and C(i, j) alone, else their cache lines could not be counted. Therefore a text has no
brackets, no addresses, no unary *, no members and no calls but these, so that no expression in it can follow a pointer; what it
keeps besides the matrices are single variables, which live in registers.
"""

import functools
import re
from pathlib import Path

from course_lib.check.finding import Finding

ENTRY = "course_loops"
CALLS = ("A", "B", "C", "min")
KNOWN = ("M", "N", "K", "alpha", "beta", *CALLS)
_HEADS = ("for", "while", "if")
_TYPES = ("int", "unsigned", "long", "float", "double", "bool", "const", "REAL")
_WORDS = (*_TYPES, *_HEADS, "do", "else", "break", "continue", "return", "true", "false")
_KEYWORDS = re.findall(r"\w+", """alignas alignof and and_eq asm auto bitand bitor case catch char char16_t char32_t class compl const_cast
    constexpr decltype default delete dynamic_cast enum explicit export extern friend goto inline mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw try typedef typeid typename union using virtual void volatile wchar_t
    xor xor_eq restrict""")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"\s+|[A-Za-z_]\w*|\.?[0-9](?:[eEpP][+-]|[\w.])*|\+\+|--|&&|\|\||<[<:%]|>>|:>|%[:>]|[-+*/%<>=!]=|->|::|.",
                    re.ASCII | re.DOTALL)           # <: and the like are [ ] { } # by other names
_SIGNS = {"+", "-", "*", "/", "%", "<", ">", "=", "!", "?", ":", ",", ";", "(", ")", "{", "}", "++", "--", "&&", "||",
          "+=", "-=", "*=", "/=", "%=", "<=", ">=", "==", "!="}
_NO_ARRAY = "Numbers stay in A, B and C, or in single variables such as `float sum`: an array would be memory whose lines nobody counts"
_SAID = {
    "[": _NO_ARRAY, "]": _NO_ARRAY,
    "#": "Lines that begin with # are not taken: the text holds loops only",
    "&": "No addresses are taken: the matrices are reached by A(i, k), B(k, j) and C(i, j) alone",
    "void": "The text holds loops only: leave out the function around them. M, N, K, alpha and C = beta C are there already",
    "goto": "Leave a loop by `break`, not by `goto`",
}


def problem(text: str) -> Finding | None:
    """Return a finding of kind "entry", with its line, on what does not belong in loops, or None.

    Parameters
    ----------
    text
        The answer, with lines ending in \\n.

    >>> problem("for (int i = 0; i < M; ++i)\\n    C(i, 0) += alpha * A(i, 0) * B(0, 0);")
    >>> problem("float sum[4];").message.split(":")[0]
    'Numbers stay in A, B and C, or in single variables such as `float sum`'
    """
    # in comments too: the compiler may see other comments than we do
    spliced = re.search(r"\\|\?\?|[^\n\t -\ud7ff\ue000-\U0010ffff]", text)
    if spliced:
        return _finding(f"{spliced.group()!r} has no place in the text", text, text.count("\n", 0, spliced.start()) + 1)
    tokens = _tokens(_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text))
    if not tokens:
        return Finding("entry", "the cell holds no loops: write them with A(i, k), B(k, j) and C(i, j)")
    for look in (_known_by_name, _braces, _order, _words):
        found = look(tokens)
        if found:
            return _finding(found[0], text, found[1])
    return None


def kernel(text: str) -> str:
    """Return the CUDA C text of a kernel of one thread that runs the loops; its lines from LOOPS on have the answer's numbers."""
    return _frame().replace("\nLOOPS\n", f"\n{text}\n", 1)


@functools.cache
def _frame():
    return Path(__file__).with_name("loops.cuh").read_text(encoding="utf-8")


def _finding(message, text, line):
    return Finding("entry", message, line, text.split("\n")[line - 1].rstrip().encode(errors="replace").decode())


def _tokens(code):
    """Return (token, line) pairs without white space."""
    found, line = [], 1
    for match in _TOKEN.finditer(code):
        if not match.group().isspace():
            found.append((match.group(), line))
        line += match.group().count("\n")
    return found


def _is_name(token):
    return token[0] == "_" or token[0].isascii() and token[0].isalpha()


def _is_number(token):
    return token[0] in "0123456789" or token[0] == "." and len(token) > 1


def _known_by_name(tokens):
    """Say what is wrong with the signs and words that have a sentence of their own."""
    return next(((_SAID[token], line) for token, line in tokens if token in _SAID), None)


def _words(tokens):
    """Say which sign or name has no place here."""
    declared = _declared([token for token, _ in tokens])
    for at, (token, line) in enumerate(tokens):
        if _is_name(token):
            if token.startswith(("_", "course_")) or token not in (*_WORDS, *KNOWN, *declared):
                return (f"`{token[:60]}` is not known here: there are M, N, K, alpha, A(i, k), B(k, j), C(i, j), min(a, b), and the "
                        "variables that your loops declare with int, float or double"), line
            called = at + 1 < len(tokens) and tokens[at + 1][0] == "("
            if called and token not in (*CALLS, *_HEADS, "return"):
                return f"`{token[:60]}(` has no place here: only A, B, C and min can be called", line
            if token in CALLS and not called:
                return f"`{token}` must be followed by its arguments in parentheses", line
        elif token not in _SIGNS and not _is_number(token):
            return f"`{token[:60]}` has no place in loops", line
    return None


def _declared(tokens):
    """Return the names that follow a type, or a comma of the same declaration."""
    names, depth, declaring = set(), 0, False
    for before, token in zip(["", *tokens], tokens, strict=False):
        depth += (token == "(") - (token == ")")
        if token in (";", "{", "}"):
            declaring = False
        if token in _TYPES and (before in ("", ";", "{", "}", ")", "const", "else") or before == "("):
            declaring, level = True, depth
        if declaring and depth < level:
            declaring = False
        if declaring and depth == level and _is_name(token) and token not in (*_WORDS, *_KEYWORDS) and (before in _TYPES or before == ","):
            names.add(token)
    return names


def _braces(tokens):
    """Say where braces or parentheses do not match, or where a brace stands that begins no block."""
    closing, open_ = {")": "(", "}": "{"}, []
    for at, (token, line) in enumerate(tokens):
        before = tokens[at - 1][0] if at else ";"
        if token == "{" and before not in (")", ";", "{", "}", "else", "do"):
            return "`{` begins no block here", line
        if token in ("(", "{"):
            open_.append((token, line))
        elif token in closing and (not open_ or open_.pop()[0] != closing[token]):
            return f"`{token}` closes nothing: the braces or parentheses before it do not match", line
    return (f"this `{open_[-1][0]}` is not closed", open_[-1][1]) if open_ else None


def _order(tokens):
    """Say where a * is no multiplication, or a value is called."""
    heads: dict[int, int] = {}          # index of a `)` -> index of its `(`
    open_: list[int] = []
    for at, (token, line) in enumerate(tokens):
        before = tokens[at - 1][0] if at else ";"
        after = tokens[at + 1][0] if at + 1 < len(tokens) else ";"
        if token == "*" and (not _is_value(before) or after in (")", "*", ",", ";", "=")):
            return "`*` stands between two factors; the matrices are reached by A(i, k), B(k, j) and C(i, j) alone", line
        if token == "(":
            if before == ")" and not _may_follow([token for token, _ in tokens], heads[at - 1], at - 1):
                return "a value in parentheses cannot be called", line
            open_.append(at)
        elif token == ")":
            heads[at] = open_.pop()
    return None


def _is_value(token):
    return token == ")" or _is_number(token) or _is_name(token) and token not in _WORDS


def _may_follow(tokens, first, last):
    """Return whether `(` may follow the parentheses first to last: the head of a loop, or a cast."""
    head = tokens[first - 1] if first else ""
    return head in _HEADS or all(token in _TYPES for token in tokens[first + 1:last])
