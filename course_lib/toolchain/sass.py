"""Machine code as text: what the hardware really executes, instruction by instruction, with source lines."""

import functools
import hashlib
import importlib.metadata
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.toolchain import disk
from course_lib.toolchain.binaries import check_cubin, run_on_cubin
from course_lib.toolchain.code_stand_in import CodeStandIn
from course_lib.toolchain.compiled import Compiled

_WIDTHS = {"8": 8, "16": 16, "32": 32, "64": 64, "128": 128}
_MEMORY = ("LD", "ST", "ATOM", "RED")


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction.

    Attributes
    ----------
    offset
        Bytes from the start of the kernel.
    predicate
        `@P0` or `@!P0`: lanes where it does not hold skip the instruction.
    opcode
        With modifiers, `LDS.128`.
    operands
        Branch targets are offsets, `0x210`.
    line
        Line of the reader's text; None for code that comes from a header.
    """

    offset: int
    predicate: str | None
    opcode: str
    operands: tuple[str, ...]
    line: int | None

    @property
    def text(self) -> str:
        """Return the instruction as it is written."""
        words = [word for word in (self.predicate, self.opcode, ", ".join(self.operands)) if word]
        return " ".join(words)

    @property
    def base(self) -> str:
        """Return the opcode without modifiers.

        >>> SassInstruction(0, None, "LDS.U.128", ("R4", "[R18]"), 7).base
        'LDS'
        """
        return self.opcode.split(".")[0]

    @property
    def bits(self) -> int | None:
        """Return how many bits a memory instruction moves per lane, or None for any other instruction.

        >>> [SassInstruction(0, None, op, (), 7).bits for op in ("LDS.U.128", "LDG.E.U16", "STS", "FFMA")]
        [128, 16, 32, None]
        """
        if not self.base.startswith(_MEMORY):
            return None
        for modifier in self.opcode.split(".")[1:]:
            if modifier.lstrip("USFB") in _WIDTHS:
                return _WIDTHS[modifier.lstrip("USFB")]
        return 32


def sass(compiled: Compiled | bytes, entry: str | None = None) -> tuple[SassInstruction, ...]:
    """Disassemble one kernel.

    The first time takes half a second; the same machine code again is answered from memory, or by a later process from disk.

    Parameters
    ----------
    compiled
        The result of `compile_cuda`, or a cubin.
    entry
        The kernel; needed only when the text has several.

    Returns
    -------
    In the order of their offsets, with the functions that the kernel calls, without padding at the end.

    Raises
    ------
    CourseError
        When there is no machine code, no such kernel, or no disassembler.

    Source: nvdisasm, from NVIDIA's wheel nvidia-cuda-nvdisasm.

    >>> from course_lib.toolchain import compile_cuda
    >>> code = sass(compile_cuda('extern "C" __global__ void k(float* x) {\\n  x[0] *= x[1];\\n}'))
    >>> [(i.opcode, i.line) for i in code if i.base in ("LDG", "FMUL", "STG")]
    [('LDG.E', 2), ('LDG.E', 2), ('FMUL', 2), ('STG.E', 2)]
    """
    cubin = compiled.cubin if isinstance(compiled, Compiled) else compiled
    functions = disassemble(cubin)
    names = ", ".join(functions)
    if entry is None and len(functions) > 1:
        raise CourseError(f"the machine code holds {len(functions)} kernels ({names}): name one with entry=")
    if entry is None and functions:
        entry = next(iter(functions))
    if entry not in functions:
        raise CourseError(f"the machine code holds no kernel {entry!r}" + (f", only {names}" if names else ""),
                          entry=entry)
    return functions[entry]


def disassemble(cubin: bytes | CodeStandIn) -> dict[str, tuple[SassInstruction, ...]]:
    """Return kernel -> instructions of everything in a cubin; the last ones are remembered."""
    if not isinstance(cubin, CodeStandIn):
        check_cubin(cubin)
        cubin = bytes(cubin)
    return _disassemble(cubin)


@functools.lru_cache(maxsize=64)
def _disassemble(cubin):
    texts = cubin.sass() if isinstance(cubin, CodeStandIn) else texts_on_disk(cubin)
    if texts is not None:
        return {name: read_back(text) for name, text in texts.items()}
    found = disassemble_now(cubin)
    put_on_disk(cubin, {name: written(code) for name, code in found.items()})
    return found


def disassemble_now(cubin: bytes) -> dict[str, tuple[SassInstruction, ...]]:
    """Return what `disassemble` returns, of bytes, from the disassembler itself."""
    answer = json.loads(repaired(run_on_cubin("nvdisasm", cubin, "--print-line-info", "--emit-json")), strict=False)
    return {function["function-name"]: instructions_of(function) for function in answer[1]}


def texts_on_disk(cubin: bytes) -> dict[str, str] | None:
    """Return kernel -> text as `written` writes it, when some process has put this machine code's text on the disk, else None."""
    path = _place(cubin)
    data = disk.read_object(path) if path else None
    return json.loads(zlib.decompress(data)) if data is not None else None


def put_on_disk(cubin: bytes, texts: Mapping[str, str]) -> None:
    """Leave the text of machine code for later processes."""
    path = _place(cubin)
    if path:
        disk.store_object(path, zlib.compress(json.dumps(texts).encode(), 1))


def _place(cubin):
    """Return the file for the text of this machine code; None where the disassembler's version or this module cannot be seen."""
    try:
        makers = importlib.metadata.version("nvidia-cuda-nvdisasm").encode(), Path(__file__).read_bytes()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None
    return disk.object_path(hashlib.sha256(b"\0".join([b"sass", *makers, cubin])).hexdigest(), "sass")


def repaired(text: str) -> str:
    r"""Return nvdisasm's JSON with backslashes that JSON allows: it writes a letter outside ASCII, in a folder's name say, as \303\274.

    >>> json.loads(repaired(r'"/lessons/J\303\274rgen \"\\ \u00fc"'))
    '/lessons/J\\303\\274rgen "\\ ü'
    """
    return re.sub(r'\\(["\\/bfnrtu])|\\', lambda found: found[0] if found[1] else r"\\", text)


def written(instructions: Sequence[SassInstruction]) -> str:
    """Write instructions as lines of text: the bytes of one, then predicate, opcode, operands and, where it changes, the source line.

    >>> code = (SassInstruction(0, "@P0", "BRA", ("0x10",), 7), SassInstruction(16, None, "EXIT", (), 7))
    >>> written(code), read_back(written(code)) == code
    ('16\\n@P0 BRA 0x10;7\\n EXIT ', True)
    """
    size = instructions[1].offset if len(instructions) > 1 else 16
    lines, line = [str(size)], None
    for one in instructions:
        words = f"{one.predicate or ''} {one.opcode} {', '.join(one.operands)}"
        lines.append(words if one.line == line else f"{words};{one.line or 0}")
        line = one.line
    return "\n".join(lines)


def read_back(text: str) -> tuple[SassInstruction, ...]:
    """Turn what `written` wrote into instructions again."""
    size, *lines = text.split("\n")
    made, line = [], None
    for number, words in enumerate(lines):
        words, changed, at = words.partition(";")
        line = (int(at) or None) if changed else line
        predicate, opcode, operands = words.split(" ", 2)
        made.append(SassInstruction(number * int(size), predicate or None, opcode, tuple(operands.split(", ")) if operands else (), line))
    return tuple(made)


def instructions_of(function: Mapping[str, Any]) -> tuple[SassInstruction, ...]:
    """Turn one function of nvdisasm's JSON into instructions; a line holds until the next one is named."""
    raw, made = function["sass-instructions"], []
    own = next((item["source-file-id"] for item in raw if "source-file-id" in item), None)
    size = function["length"] // max(len(raw), 1)
    line = None
    for number, item in enumerate(raw):
        if "source-line" in item:
            line = item["source-line"] if item.get("source-file-id") == own else None
        operands = tuple(part.strip() for part in item.get("operands", "").split(",") if part.strip())
        made.append(SassInstruction(number * size, item.get("predicate"), item["opcode"], operands, line))
    while made and made[-1].opcode == "NOP":
        made.pop()
    if made and made[-1].base == "BRA" and made[-1].operands == (hex(made[-1].offset),):
        made.pop()                             # a jump to itself, which only keeps the fetch unit from running on
    return tuple(made)
