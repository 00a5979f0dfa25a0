"""What a kernel prints: C's formats, applied while it runs, put in order when it has ended."""

import ctypes
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.simt.host.memory import up
from course_lib.simt.passes import calls
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.runtime import abi

LIMIT = 1 << 20  # characters that a launch collects; a GPU's buffer holds as many bytes unless the host asks for more
MOST_ARGUMENTS = 32
DROPPED = "\n[the rest of the output is dropped: more than 1 MiB was printed]\n"
FORM = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%n])")
WIDTHS = {"hh": 1, "h": 2, "l": 8, "ll": 8, "j": 8, "z": 8, "t": 8}
PRINT = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint64] * 4)
TEXT = 1 << 16  # longest string that %s prints


class Output:
    """Collects what the threads of one launch print; `text()` is in the order of blocks, then of execution."""

    def __init__(self, host_of: Callable[[int, int, int, int], int]) -> None:
        self.host_of = host_of
        self.pieces: list[tuple[int, str]] = []
        self.sizes: dict[int, int] = {}
        self.callback = PRINT(self.print)

    def print(self, warp: int, lane: int, form: int, arguments: int) -> int:
        """Format one call of one lane; return how many arguments it printed, as CUDA's printf does (-1: no format)."""
        record = abi.Warp.from_address(warp)
        raw = self.string(warp, lane, form)
        if raw is None:
            return -1
        if self.sizes.get(record.worker, 0) > LIMIT:  # everything further lies behind the limit in any case
            return 0
        text, used = render(raw, self.memory(warp, lane, arguments), lambda at: self.string(warp, lane, at))
        self.sizes[record.worker] = self.sizes.get(record.worker, 0) + len(text)
        number = abi.Worker.from_address(record.worker).block_number
        self.pieces.append((number, text))
        return used

    def memory(self, warp: int, lane: int, address: int) -> bytes:
        """Return the bytes at a generic address, as far as the longest list of arguments may reach."""
        left = ctypes.c_uint64()
        host = self.host_of(warp, lane, address, ctypes.addressof(left))
        return ctypes.string_at(host, min(left.value, 16 * MOST_ARGUMENTS)) if host else b""

    def string(self, warp: int, lane: int, address: int) -> bytes | None:
        """Return the characters up to the 0 at a generic address; None where no memory lies."""
        left = ctypes.c_uint64()
        host = self.host_of(warp, lane, address, ctypes.addressof(left))
        return ctypes.string_at(host, min(left.value, TEXT)).split(b"\0")[0] if host else None

    def text(self) -> str:
        """Return all that was printed, up to LIMIT characters."""
        pieces = sorted(self.pieces, key=lambda p: p[0])  # stable: within a block as executed
        whole = "".join(text for _, text in pieces)
        return whole if len(whole) <= LIMIT else whole[:LIMIT] + DROPPED


def render(form: bytes, data: bytes, string_at: Callable[[int], bytes | None] = lambda at: None) -> tuple[str, int]:
    """Apply a C format to arguments packed as CUDA packs them: each at a multiple of its size, 4 or 8 bytes.

    Parameters
    ----------
    form, data
        The format and the arguments' memory.
    string_at
        Address -> bytes of a string, None where no memory lies.

    Returns
    -------
    :
        The text, and how many arguments went into it.

    >>> render(b"%d of %5.2f|%-4x|%%", struct.pack("<i4xdI", -7, 2.5, 255))
    ('-7 of  2.50|ff  |%', 3)
    """
    given = _Arguments(data)

    def convert(found):
        if found.group(5) == b"%":
            return b"%"
        if given.count >= MOST_ARGUMENTS:
            return found.group()
        return _one(found, given, string_at).encode("latin-1")

    return FORM.sub(convert, form).decode("utf-8", "replace"), given.count


class _Arguments:
    def __init__(self, data):
        self.data, self.at, self.count = data, 0, 0

    def take(self, nbytes, kind):
        """Return the next argument, unpacked by a struct letter; memory that is not there reads as 0."""
        self.at = -(-self.at // nbytes) * nbytes
        raw = self.data[self.at:self.at + nbytes].ljust(nbytes, b"\0")
        self.at, self.count = self.at + nbytes, self.count + 1
        return struct.unpack("<" + kind, raw)[0]


def _one(found, given, string_at):
    """Format one conversion."""
    flags, given_width, given_precision, size, letter = ((g or b"").decode() for g in found.groups())
    width = given.take(4, "i") if given_width == "*" else int(given_width or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision = None if found.group(3) is None else given.take(4, "i") if given_precision == "*" else int(given_precision or 0)
    if precision is not None and precision < 0:
        precision = None
    if letter in "diouxX":
        body = _integer(letter, size, flags, precision, given)
    elif letter in "fFeEgGaA":
        body = _real(letter, flags, precision, given.take(8, "d"))
    elif letter == "c":
        body = chr(given.take(4, "I") & 255)
    elif letter == "s":
        raw = string_at(given.take(8, "Q"))
        body = ("(null)" if raw is None else raw.decode("latin-1"))[:precision]
    elif letter == "p":
        body = f"{given.take(8, 'Q'):#x}"
    else:  # %n writes nothing on a GPU
        given.take(8, "Q")
        body = ""
    zeros = "0" in flags and "-" not in flags and letter not in "csp" and not (letter in "diouxX" and precision is not None)
    if zeros and body.lstrip("+- ")[:3] not in ("inf", "nan", "INF", "NAN"):
        digits = re.sub(r"^[-+ ]?(?:0[xX])?" if letter in "xXaA" else r"^[-+ ]?", "", body)
        sign = body[:len(body) - len(digits)]
        return sign + digits.rjust(width - len(sign), "0")
    return body.ljust(width) if "-" in flags else body.rjust(width)


def _integer(letter, size, flags, precision, given):
    """Format d, i, o, u, x, X of the size that its letters (hh, h, l, ll, …) name."""
    nbytes = WIDTHS.get(size, 4)
    value = given.take(max(nbytes, 4), "Q" if nbytes == 8 else "I") & ((1 << 8 * nbytes) - 1)
    sign = ""
    if letter in "di":
        value -= (value >> (8 * nbytes - 1)) << 8 * nbytes
        sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    digits = format(abs(value), {"o": "o", "x": "x", "X": "X"}.get(letter, "d"))
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    if "#" in flags and letter == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in flags and letter in "xX" and value:
        sign = "0" + letter
    return sign + digits


def _real(letter, flags, precision, value):
    """Format a, e, f, g in lower or upper case."""
    if letter in "aA" and value == value and abs(value) != float("inf"):
        body = _hexadecimal(value, precision, "#" in flags)
        mark = "+" if "+" in flags else " " if " " in flags else ""
        body = body if body[0] == "-" else mark + body
        return body.upper() if letter == "A" else body
    marks = "".join(f for f in "+ #" if f in flags)
    body = f"%{marks}{'' if precision is None else f'.{precision}'}{letter if letter not in 'aA' else 'f'}" % value
    return body.upper() if letter in "FEGA" else body


def _hexadecimal(value, precision, point):
    """Format a finite number as C's %a: one digit, the fraction without closing zeros, the exponent of two."""
    bits, = struct.unpack("<Q", struct.pack("<d", value))
    sign, exponent, fraction = "-" if bits >> 63 else "", bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    lead, power = (1, exponent - 1023) if exponent else (0, -1022 if fraction else 0)
    if precision is not None and precision < 13:
        drop = 4 * (13 - precision)
        whole = (lead << 52 | fraction) + 0
        half, rest = 1 << (drop - 1), whole & ((1 << drop) - 1)
        whole >>= drop
        whole += rest > half or rest == half and whole & 1
        lead, fraction = whole >> 4 * precision, whole & ((1 << 4 * precision) - 1)
        digits = format(fraction, f"0{precision}x") if precision else ""
    else:
        digits = format(fraction, "013x")
        digits = digits.rstrip("0") if precision is None else digits.ljust(precision, "0")
    return f"{sign}0x{lead}{'.' if digits or point else ''}{digits}p{power:+d}"


def describe_calls(program: Program, output: Output, run: Any, pin: Callable[[Any], int]) -> None:
    """Fill in functions, calls and the stack of an abi.Launch; without any, a kernel's local memory is its own frame."""
    run.entry_block, run.kernel_frame = program.entry_block, program.local_bytes
    if not program.linked.has_calls:
        return
    found, callees, data, _ = program.calls
    run.calls, run.callees = pin((abi.Call * max(len(found), 1))(*found)), pin((abi.Callee * len(callees))(*callees))
    run.callee_count, run.call_data = len(callees), pin(np.array(data or [(0, 0)], np.uint32))
    run.stack_bytes = calls.STACK_BYTES
    run.local_bytes = up(run.kernel_frame, 16) + calls.STACK_BYTES
    run.frame_slot = program.slots[calls.FRAME.name][0]
    run.print = ctypes.cast(output.callback, ctypes.c_void_p).value
