"""One kernel three times: CUDA C, PTX and SASS, every line of the latter two with the source line that it comes from."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.run import resolve
from course_lib.toolchain import Loop

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
_DIRECTIVE = re.compile(r"\s*(\.loc\b|\.file\b|//|$|[{}()]\s*$|\)\s*$)")


@dataclass(frozen=True)
class CodeLine:
    """A line of PTX or SASS; `line` is the source line it comes from, None when it comes from none."""

    text: str
    line: int | None


@dataclass(frozen=True)
class LinkedCode:
    """What the compiler made of one kernel.

    Attributes
    ----------
    name, words
        Of the kernel; "UNROLL = 1" and so on.
    arch
        Such as "sm_90".
    source
        Its lines.
    ptx, sass
        The kernel's body without declarations of files and lines, so without a path of this machine.
    loop
        The innermost loop with most multiply-adds, in SASS.
    fma
        "FFMA", or "DFMA" for float64: the opcode of a multiply-add.
    step
        Instructions per multiply-add of a whole step along K, loads of the tiles and barriers included; None where it is not
        known. Only this compares loops that are written out in part with one that is gone.
    """

    name: str
    words: str
    arch: str
    source: tuple[str, ...] = field(repr=False)
    ptx: tuple[CodeLine, ...] = field(repr=False)
    sass: tuple[CodeLine, ...] = field(repr=False)
    loop: Loop | None = field(repr=False)
    fma: str = "FFMA"
    step: float | None = None

    @property
    def per_multiply_add(self) -> float | None:
        """Return the machine instructions per multiply-add in the inner loop, or None when no loop multiplies and adds."""
        return self.loop.counts["instructions"] / self.loop.counts[self.fma] if self.loop else None

    @property
    def sass_per_line(self) -> dict[int, int]:
        """Return source line -> machine instructions, each counted once, however often it is executed."""
        return dict(sorted(Counter(c.line for c in self.sass if c.line).items()))

    @property
    def lines(self) -> tuple[int, ...]:
        """Return the source lines that have PTX or SASS."""
        return tuple(sorted({c.line for c in (*self.ptx, *self.sass) if c.line}))

    @property
    def busiest(self) -> int:
        """Return the source line of the inner loop with most multiply-adds, or else the one with most machine instructions."""
        inside = self.loop.lines if self.loop else ()
        fmas = Counter(c.line for c in self.sass if c.line in inside and f"{self.fma} " in c.text)
        return max(fmas or self.sass_per_line, key=(fmas or self.sass_per_line).__getitem__)

    def says(self) -> str:
        """Return a sentence on the inner loop.

        >>> linked_code("sgemm_unrolled", UNROLL=4).says()[:26]
        'Inner loop, lines 33 to 34'
        """
        if self.loop is None:
            return f"No loop holds {self.fma}."
        there, counts = self.loop.lines, self.loop.counts
        step = f"; a whole step along K: {self.step:.3g}" if self.step else ""
        return (f"Inner loop, lines {there[0]} to {there[-1]}: {counts['instructions']} instructions for {counts[self.fma]} {self.fma}, "
                f"{self.per_multiply_add:.3g} a multiply-add{step}.")


def linked_code(kernel: str | Kernel | Path, *, arch: str = "sm_90", **parameters: int) -> LinkedCode:
    """Compile a kernel and link its PTX and SASS to its source.

    Parameters
    ----------
    kernel
        As for `run`.
    arch
        Which machine's code.
    **parameters
        Of the kernel; the others keep their defaults.

    Raises
    ------
    CourseError
        For parameters that break a rule, with the rule; when it does not compile; when there is no disassembler.

    Source: NVRTC's `.loc` directives ("PTX ISA", .loc) and nvdisasm's line table.

    >>> code = linked_code("sgemm_unrolled", UNROLL=16)
    >>> sum("FFMA" in c.text for c in code.sass if c.line == code.busiest)
    16
    """
    resolved = resolve(kernel)
    values = resolved.check(**parameters)
    compiled = toolchain.compile_cuda(resolved.source, name=resolved.file_name, arch=arch, defines=resolved.defines(**values))
    code = toolchain.sass(compiled, resolved.entry)
    fma = "DFMA" if resolved.dtype == "float64" else "FFMA"
    busy = any(i.base == fma for loop in toolchain.loops(code) for i in loop.instructions)
    inner = toolchain.inner_loop(resolved, arch=arch, **values).loop if busy else None
    step = toolchain.whole_step(resolved, arch=arch, **values) if busy else None
    return LinkedCode(
        resolved.name, ", ".join(f"{k} = {v}" for k, v in values.items()), arch, tuple(resolved.source.splitlines()),
        tuple(ptx_lines(compiled.ptx, resolved.entry, resolved.file_name)), tuple(CodeLine(i.text, i.line) for i in code),
        inner, fma, step.per_multiply_add if step else None)


def ptx_lines(ptx: str, entry: str, name: str) -> list[CodeLine]:
    """Return the body of one kernel as CodeLines: declarations, labels and instructions, without .loc and .file.

    Raises
    ------
    CourseError
        When the PTX holds no such kernel.
    """
    files = dict(_FILE.findall("\n" + ptx.replace("\n", "\n\n")))
    own = next((number for number, path in files.items() if re.split(r"[/\\]", path)[-1] == name), "1")
    start = re.search(rf"\.entry\s+{re.escape(entry)}\s*\(", ptx)
    if start is None:
        raise CourseError(f"the PTX holds no kernel {entry!r}", entry=entry)
    body = ptx[ptx.index("{", start.end()) + 1:]
    found, line = [], None
    for text in body.splitlines():
        if text == "}":
            break
        if place := _LOC.match(text):
            line = int(place[2]) or None if place[1] == own else None
        elif not _DIRECTIVE.match(text):
            found.append(CodeLine(text.strip().replace("\t", " "), None if text.strip().startswith(".") else line))
    return found
