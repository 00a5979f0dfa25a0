"""The compiler's log as facts: which line of the reader's text, which column, what is wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import CourseError

_HEADER = re.compile(r"(?:(?P<file>.+)\((?P<line>\d+)\)|At end of source): (?P<severity>(?:catastrophic |internal )?error|warning|note)"
                     r"(?: #(?P<code>\d+(?:-D)?))?: (?P<message>.*)")
_PTXAS = re.compile(r"ptxas\s+(?:(?P<input>.+), line (?P<line>\d+); )?(?P<severity>error|fatal|warning|info)\s*:"
                    r" (?P<message>.*)")
_CARET = re.compile(r"\s*\^\s*")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_SHOWN = 5          # errors in the message of an exception; all of them are in its `diagnostics`
_MOST = 2000        # characters of one message; the whole of it is in the diagnostic
_LONG = 200         # characters; a longer line of the source is not shown in a message
_HINTS = (
    (r"host (?:functions|variables) are not allowed", "write __device__ before it"),
    (r'open source file "(?:cuda_(?:fp|bf)16|mma|cooperative_groups|cuda/std/|nv/|crt/)',
     "NVIDIA's headers come with the pip wheels nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl"),
    (r'open source file "(?:c?std\w+|c?math|c?assert|c?string|c?float|c?limits|vector|array|iostream)(?:\.h)?"',
     "a kernel is compiled without the host's headers: printf, assert and mathematics are built in, "
     "and the C++ library is under cuda/std/, as in <cuda/std/cstdint>"),
    (r"too much shared data", "arrays of fixed size may take 0xc000 bytes = 48 KiB of shared memory a block"),
)


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler.

    Attributes
    ----------
    line
        Line of the reader's text, from 1; None when the message is about no line.
    severity
        "error", "warning" or "note".
    message
        The compiler's words on one line.
    source_line
        That line of the text, or "".
    column
        Character in the line, from 1.
    file
        The text's name, or the header's when the message is about one.
    """

    line: int | None
    severity: str
    message: str
    source_line: str
    column: int | None = None
    file: str | None = None

    def show(self, name: str | None = None) -> str:
        """Return the message, the line under it, and a caret when the column is known.

        Parameters
        ----------
        name
            The reader's own file, which is not repeated.

        >>> print(Diagnostic(3, "error", 'identifier "y" is undefined', "  x[0] = y;", 10).show())
        line 3: error: identifier "y" is undefined
          x[0] = y;
                 ^
        """
        where = f"line {self.line}: " if self.line else ""
        if self.file not in (None, name):
            where = re.sub(r".*[/\\\\]include[/\\\\]", "", self.file) + ", " + where
        message = self.message if len(self.message) <= _MOST else f"{self.message[:_MOST]} …"
        lines = [f"{where}{self.severity}: {message}"]
        if 0 < len(self.source_line) <= _LONG:
            lines.append(self.source_line)
            if self.column:
                lines.append(re.sub(r"[^\t]", " ", self.source_line[:self.column - 1]) + "^")
        return "\n".join(lines)


class CompileError(CourseError):
    """The compiler refuses the text.

    Attributes
    ----------
    diagnostics
        Errors, warnings and notes in the compiler's order.
    log
        The compiler's own words.
    name
        What the text is called.
    """

    diagnostics: tuple[Diagnostic, ...]
    log: str
    name: str

    @classmethod
    def from_diagnostics(cls, name: str, diagnostics: Sequence[Diagnostic], log: str, **facts: Any) -> "CompileError":
        """Make the exception whose message shows the first errors; `facts` become attributes too."""
        errors = [d for d in diagnostics if d.severity == "error"]
        lines = [f"{name} does not compile ({len(errors)} error{'s' if len(errors) != 1 else ''})"]
        lines += [d.show(name) for d in errors[:_SHOWN]]
        if len(errors) > _SHOWN:
            lines.append(f"… and {len(errors) - _SHOWN} more")
        text = " ".join(d.message for d in errors)
        lines += [f"hint: {hint}" for pattern, hint in _HINTS if re.search(pattern, text)]
        return cls("\n".join(lines), diagnostics=tuple(diagnostics), log=log, name=name, **facts)


def parse_log(log: str, source: str, name: str, ptx: str = "") -> tuple[Diagnostic, ...]:
    """Split the compiler's log into messages.

    Parameters
    ----------
    log, source, name
        What the compiler said, about which text, called what.
    ptx
        The PTX, when there is some: messages of the assembler name its lines, not those of the source.

    >>> log = 'k.cu(2): error: identifier "y" is undefined\\n  x[0] = y;\\n         ^\\n\\n1 error detected'
    >>> [(d.line, d.column, d.message) for d in parse_log(log, "{\\nx[0] = y;", "k.cu")]
    [(2, 8, 'identifier "y" is undefined')]
    """
    found: list[tuple[re.Match[str], list[str] | None]] = []
    block: list[str] | None = None
    for text in log.splitlines():
        if header := _HEADER.fullmatch(text):
            block = []
            found.append((header, block))
        elif header := _PTXAS.fullmatch(text.rstrip()):
            found.append((header, None))
            block = None
        elif not text.strip():
            block = None          # a blank line ends a message; what follows outside is a summary
        elif block is not None:
            block.append(text)
    lines = _split(source)
    made = [_from_compiler(header, rest, lines, name) if rest is not None else _from_ptxas(header, lines, name, ptx)
            for header, rest in found]
    return tuple(d for d in made if d is not None)


def _split(source):
    """Split as the compiler does: not at form feeds and the like, where str.splitlines would."""
    return re.split(r"\r\n|\n|\r", source)


def _from_compiler(header, rest, lines, name):
    severity = header["severity"].split()[-1]
    if header["line"]:
        number, file = int(header["line"]), header["file"]
    else:                           # the text ended too early
        number, file = max((i for i, text in enumerate(lines, start=1) if text.strip()), default=1), name
    shown, caret = "", None
    words: list[str] = []
    for i, text in enumerate(rest):
        if _CARET.fullmatch(text) and i:
            shown, caret = words.pop()[2:], text.index("^") - 2     # the log indents the line by two
        else:
            words.append(text)
    own = lines[number - 1] if file == name and number <= len(lines) else shown
    column = _column(own, caret) if own.rstrip() == shown.rstrip() else None
    message = " ".join([header["message"].strip(), *(word.strip() for word in words)])
    return Diagnostic(number, severity, message, own.rstrip(), column, file)


def _column(line, caret):
    """Turn the compiler's column, which counts bytes from 0, into characters from 1."""
    if caret is None or caret < 0:
        return None
    return len(line.encode()[:caret].decode(errors="ignore")) + 1


def _from_ptxas(header, lines, name, ptx):
    severity = {"fatal": "error"}.get(header["severity"], header["severity"])
    if severity == "info" or header["message"].startswith("Ptx assembly aborted"):
        return None
    number = _line_of_ptx(ptx, int(header["line"])) if header["line"] else None
    own = lines[number - 1].rstrip() if number and number <= len(lines) else ""
    return Diagnostic(number, severity, header["message"], own, None, name if number else None)


def _line_of_ptx(ptx, number):
    """Return the source line that the last `.loc` above a PTX line names, or None."""
    above = [int(m[1]) for text in ptx.splitlines()[:number] if (m := _LOC.match(text))]
    return above[-1] if above else None
