"""Validate every reply of a sandbox, which is untrusted: each type, length and range is checked before anything is used.

A kernel that escapes from the simulator, and any Python function, can write what it likes here. Numbers of a wrong type or range end
the part; numbers of the right ones are compared by the grader like any others.
"""

import dataclasses
import json
import re
from collections import Counter
from typing import Any, TypeVar

import numpy as np

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.simt import async_report
from course_lib.simt.host.counters import NAMES
from course_lib.simt.host.levels import Facts, Levels
from course_lib.toolchain import Diagnostic, Resources
from course_lib.toolchain.code_stand_in import CodeStandIn

_T = TypeVar("_T")
MOST = 1 << 62
MOST_WORDS = 100_000         # characters of one text; the compiler quotes the reader's own lines
MOST_BITS = 1000             # of a whole number that a function returns; a float has no room for more
MOST_BRANCHES = 1000         # in machine code whose loops are looked for
ERRORS = {cls.__name__: cls for cls in (
    CourseError, simt.SimtError, simt.PtxSyntaxError, simt.UnsupportedInstruction, simt.LaunchError, simt.OutOfBounds, simt.Misaligned,
    simt.DivergentBarrier, simt.StackOverflow, simt.InvalidTarget, simt.KernelTrap, simt.AssertionFailed, simt.PartialWarp,
    simt.InvalidOperand, simt.InvalidMask, simt.InactiveLane, simt.StepBudgetExceeded, simt.BarrierDeadlock, simt.MbarrierMisuse)}
FACTS = {"line", "block", "thread", "address", "array", "width", "kernel", "limit", "assertion", "file", "function", "opcode"}
RESOURCES = {field.name for field in dataclasses.fields(Resources)}
_HAZARDS = ("RAW", "WAR", "WAW", "uninitialised")
_SASS = re.compile(r"\d{1,3}(?:\n@?!?\w{0,8} [\w.]{1,80} [^;\n]{0,400}(?:;\d{1,6})?)*")


class Ended(Exception):
    """A sandbox that came to an end before its time, or says what no honest one does; the message is for the student.

    No `CourseError`, as those are what a check tells of an answer: this one ends the check.
    """


def message(text: bytes) -> dict:
    """Return a JSON text as a dict.

    Raises
    ------
    Ended

    >>> message(b"[[[")
    Traceback (most recent call last):
    course_lib.grading.sandbox.replies.Ended: what came out of the sandbox cannot be read
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        found = None
    return mapping(found)


def validated(value: _T, holds: object) -> _T:
    """Return a value of which something holds that must.

    Raises
    ------
    Ended
    """
    if not holds:
        raise Ended("what came out of the sandbox cannot be read")
    return value


def whole(value: Any, low: int = 0, high: int = MOST) -> int:
    """Return a whole number within a range."""
    return validated(value, type(value) is int and low <= value <= high)


def words(value: Any, most: int = MOST_WORDS) -> str:
    """Return a text, cut to a length."""
    return validated(value, isinstance(value, str))[:most]


def items(value: Any, length: int | None = None, most: int = 1_000_000) -> list:
    """Return a list, of a length when one is given."""
    return validated(value, isinstance(value, list) and (len(value) == length if length is not None else len(value) <= most))


def mapping(value: Any) -> dict:
    """Return a dict."""
    return validated(value, isinstance(value, dict))


def triple(value: Any) -> tuple[int, int, int]:
    """Return three whole numbers as a tuple."""
    x, y, z = (whole(number) for number in items(value, 3))
    return x, y, z


def error(value: Any, source: str = "kernel.cu") -> Exception:
    """Return the exception that a reply [class, words, facts, messages] tells of; of a class on the list, or `Ended`.

    `source` is what the text is called.

    >>> found = error(["OutOfBounds", "line 3: beyond A", {"line": 3, "__class__": 1}, []])
    >>> type(found).__name__, found.facts
    ('OutOfBounds', {'line': 3})
    """
    name, text, facts, messages = items(value, 4)
    name, text = words(name, 60), words(text)
    if name == "MemoryError":
        return MemoryError(text)
    if name == "CompileError":
        return simt.CompileError.from_diagnostics(source, [_diagnostic(one) for one in items(messages, most=1000)], "")
    if name not in ERRORS:
        return Ended(f"the simulator fails with {name}: {text[:300]}")
    facts = {key: _fact(fact) for key, fact in mapping(facts).items() if key in FACTS}
    return ERRORS[name](text, **facts)


def _fact(value):
    if isinstance(value, list):
        return tuple(whole(item, -MOST) for item in items(value, most=8))
    return words(value, 300) if isinstance(value, str) else whole(value, -MOST, 1 << 64)


def _diagnostic(one):
    line, severity, text, source_line, column = items(one, 5)
    at_line, at_column = (value if value is None else whole(value, 0, 1 << 30) for value in (line, column))
    return Diagnostic(at_line, words(severity, 20), words(text), words(source_line), at_column)


def report(told: dict, entry: str, code: CodeStandIn) -> simt.Report:
    """Return the `simt.Report` that a reply describes.

    Parameters
    ----------
    entry
        The kernel that was launched.
    code
        Stands in for the machine code.
    """
    counters = mapping(told.get("counters"))
    validated(counters, counters.keys() == set(NAMES))
    lines = {whole(line): _counts(counts) for line, counts in (items(row, 2) for row in items(told.get("lines")))}
    copies, products = _rules(told)
    return simt.Report(
        entry, _counts(counters), lines, _levels(told, entry, code), tuple(_hazard(row) for row in items(told.get("hazards"), most=10_000)),
        tuple(_record(row) for row in items(told.get("trace"))),
        tuple(simt.DeviceArray(words(name, 300), whole(at), whole(size), whole(item))
              for name, at, size, item in (items(row, 4) for row in items(told.get("arrays"), most=100))),
        tuple(simt.SharedVariable(words(name, 300), whole(at), whole(size))
              for name, at, size in (items(row, 3) for row in items(told.get("shared"), most=10_000))),
        whole(told.get("steps")), ptx=words(told.get("ptx"), 1 << 24), output=words(told.get("output")), cubin=code,
        async_findings=copies, products=products)


def _counts(counts):
    return {validated(name, name in NAMES): whole(number) for name, number in mapping(counts).items()}


def _levels(told, entry, code):
    """Return what is known of the counters, which the machine code may have to confirm."""
    predicted: dict[tuple[int, str], Counter] = {}
    for line, opcode, widths in (items(row, 3) for row in items(told.get("predicted"), most=100_000)):
        predicted[whole(line), words(opcode, 20)] = Counter({
            width if isinstance(width, str) else whole(width): whole(count) for width, count in (items(pair, 2) for pair in items(widths))})
    written = {(whole(line), words(opcode, 20)): whole(times)
               for line, opcode, times in (items(row, 3) for row in items(told.get("written"), most=100_000))}
    sure, copied = (validated(told.get(name), type(told.get(name)) is bool) for name in ("sure", "copied"))
    diverged = frozenset(whole(line) for line in items(told.get("diverged"), most=100_000))
    return Levels(NAMES, entry, code, Facts(sure, predicted, written, diverged, copied))


def _hazard(row):
    kind, address, first, second, one, other, block, count, *told, array, offset, here, there = items(row, 16)
    first_copies, second_copies, bulk, multiplies = (validated(flag, type(flag) is bool) for flag in told)
    return simt.Hazard(validated(kind, kind in _HAZARDS), whole(address), whole(first), whole(second), triple(one), triple(other),
                       triple(block), whole(count), first_copies, second_copies, array=words(array, 300), offset=whole(offset),
                       first_header=words(here, 300), second_header=words(there, 300), bulk=bulk, first_multiplies=multiplies)


def _rules(told):
    """Return which rules of bulk copies and mbarriers were broken, and which of wgmma."""
    copies, products = [], []
    for row in items(told.get("rules"), most=10_000):
        kind, first, second, one, other, block, count, here, there, array, offset = items(row, 11)
        validated(kind, isinstance(kind, str) and kind in async_report.KINDS + async_report.OF_PRODUCTS)
        facts = kind, whole(first), whole(second), triple(one), triple(other), triple(block), whole(count)
        headers = words(here, 300), words(there, 300)
        if kind in async_report.OF_PRODUCTS:
            products.append(async_report.ProductFinding(*facts, *headers))
        else:
            copies.append(async_report.AsyncFinding(*facts, words(array, 300), whole(offset), *headers))
    return tuple(copies), tuple(products)


def _record(row):
    step, block, warp, line, operation, mask, addresses, width, space = items(row, 9)
    where = np.array([whole(address, -1) for address in items(addresses, 32)], np.int64)
    return simt.TraceRecord(whole(step), triple(block), whole(warp), whole(line), words(operation, 80), whole(mask, high=(1 << 32) - 1),
                            where, whole(width, high=1 << 10), space if space is None else words(space, 20))


def machine_code(told: dict) -> dict[str, str]:
    """Return kernel -> its machine code as text."""
    kernels = mapping(told.get("kernels"))
    for text in kernels.values():
        validated(text, isinstance(text, str) and _SASS.fullmatch(text))
        if text.count("BRA") > MOST_BRANCHES:
            raise Ended(f"its machine code has more than {MOST_BRANCHES} branches, more than the check reads")
    return kernels


def resources(told: dict) -> dict[str, dict]:
    """Return kernel -> the fields of its `Resources`."""
    kernels = mapping(told.get("kernels"))
    for fields in kernels.values():
        validated(fields, mapping(fields).keys() == RESOURCES)
        for number in fields.values():
            validated(number, number is None or whole(number) >= 0)
    return kernels


class Shown:
    """Something that a function returned and that is no number; shows itself as what the function's process said of it."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self):
        return self.text


class Raised(Exception):
    """What a function raised, by the name and the words of its process; `line` is that of the answer's text."""

    def __init__(self, name: str, text: str, line: int | None):
        super().__init__(text)
        self.name, self.line = name, line


def returned(line: dict) -> float | tuple[float, ...] | list[float] | Shown | Raised:
    """Return what a call gave: a number, a tuple or a list of numbers, `Shown`, or an exception to be looked at.

    >>> returned({"numbers": [1, 2.5]}), returned({"other": "str: 3"}), returned({"number": [3]})
    Traceback (most recent call last):
    course_lib.grading.sandbox.replies.Ended: what came out of the sandbox cannot be read
    """
    if "number" in line:
        return _number(line["number"])
    if "numbers" in line:
        found = map(_number, items(line["numbers"], most=100))
        return list(found) if line.get("list") is True else tuple(found)
    if "error" in line:
        at = line.get("line")
        return Raised(words(line["error"], 60), words(line.get("words"), 300), at if at is None else whole(at, 1, 1 << 20))
    return Shown(words(line.get("other"), 400))


def _number(value):
    return validated(value, type(value) is float or type(value) is int and value.bit_length() <= MOST_BITS)
