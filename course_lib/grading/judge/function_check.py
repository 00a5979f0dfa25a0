"""Check a Python function: call it on every input and compare the numbers."""

import math
import numbers
import traceback
from collections.abc import Callable

import numpy as np

from course_lib.check.finding import Finding
from course_lib.check.trials import TrialOutcome
from course_lib.grading.judge.engine import Engine
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.verdict import Verdict
from course_lib.grading.sandbox.answer import MOST_BITS, MOST_ITEMS, counted, described
from course_lib.grading.sandbox.replies import Ended, Raised, Shown

_ALONE = ". Only the answer's own cell is graded: import and define there what it needs"


def check_function(answer: str | Callable, spec: FunctionSpec, seed: int | None, engine: Engine) -> Verdict:
    """Return the verdict on a function; see `course_lib.grading.check`."""
    if not callable(answer) and not isinstance(answer, str):
        return Verdict(spec.title, False, (Finding("entry", f"{spec.entry} must be a function, `def {spec.entry}"
                                                            f"({', '.join(spec.parameters)}):`"),))
    cases = spec.cases + (() if seed is None else tuple(spec.drawn(np.random.default_rng([seed, 12]))))
    outcomes: list[TrialOutcome] = []
    findings: dict[str, Finding] = {}
    for given, got in zip(cases, _replies(answer, spec, cases, engine), strict=True):
        finding = _finding(spec, given, got)
        outcomes.append(TrialOutcome(_words(spec, given), _shown(got) + ("" if finding else _printed(spec, given)), finding is None))
        if finding:
            findings.setdefault(finding.kind, finding)
    return Verdict(spec.title, not findings, tuple(findings.values()), tuple(outcomes), shown=len(spec.cases))


def _replies(answer, spec, cases, engine):
    """Yield a reply for each case; when the calls end early, the last error stands for the rest."""
    got, count = None, 0
    for got in engine.call(answer, spec.entry, cases):
        count += 1
        yield got
    for _ in range(len(cases) - count):
        yield got if isinstance(got, Exception) else TypeError(f"there is no function {spec.entry}")


def _finding(spec, given, got):
    """Return what is wrong with one reply, or None."""
    call = _words(spec, given)
    if isinstance(got, Ended):
        return Finding("ended", f"{call} has no result: {got}")
    if isinstance(got, Exception):
        return Finding("error", f"{call} raised {_name(got)}: {_said(got)}{_ALONE * (_name(got) == 'NameError')}", _line(got))
    wanted = spec.expected(*given)
    many = isinstance(wanted, tuple)
    values = tuple(got) if many and isinstance(got, (tuple, list)) else (got,)
    if len(values) != len(_tuple(wanted)) or not all(_is_number(value) for value in values):
        shape = f"a tuple of {counted(len(wanted), 'number')}" if many else "a number"
        return Finding("wrong", f"{call} must return {shape}, and returned {_described(got)}")
    if _counts(spec, values, _tuple(wanted), spec.also(*given)):
        return None
    guess = _guess(spec, given, got)
    return Finding("wrong", f"{call} returned {_shown(got)}, which is not right{f'. {guess}' if guess else ''}",
                   facts={"arguments": given, "got": got})


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def _counts(spec, values, wanted, printed):
    """Tell whether each number is the exact one, or the one that a document prints."""
    others = _tuple(printed.value) if printed else (None,) * len(wanted)
    return all(_same(value, right, spec.tolerance) or other is not None and _same(value, other, spec.tolerance, printed.within)
               for value, right, other in zip(values, wanted, others, strict=True))


def _printed(spec, given):
    """Return what is said beside a right value where a document prints another one."""
    printed = spec.also(*given)
    exact = ", ".join(f"{value:,.6g}" for value in _tuple(spec.expected(*given))) if printed else ""
    return f" ({printed.says}; exact is {exact}; both count)" if printed else ""


def _is_number(value):
    if isinstance(value, int):
        return not isinstance(value, bool) and value.bit_length() <= MOST_BITS
    return isinstance(value, numbers.Real)


def _same(value, right, tolerance, within=0.0):
    try:
        return math.isclose(value, right, rel_tol=tolerance, abs_tol=within)      # False for NaN
    except OverflowError:                # a whole number beyond every float
        return False


def _guess(spec, given, got):
    """Return what the spec guesses; it reckons with what the answer returned, which may be NaN, infinite or out of all proportion."""
    try:
        return spec.guess(given, got)
    except (ArithmeticError, ValueError):
        return ""


def _name(error):
    return getattr(error, "name", None) if isinstance(error, Raised) else type(error).__name__


def _line(error):
    """Return the answer's line in which it raised, or that is no Python; None when that is not known."""
    if isinstance(error, SyntaxError):
        return error.lineno
    return getattr(error, "line", None) or next((frame.lineno for frame in reversed(traceback.extract_tb(error.__traceback__))
                                                 if frame.filename == "<answer>"), None)


def _words(spec, given):
    return f"{spec.entry}({', '.join(f'{name}={value!r}' for name, value in zip(spec.parameters, given, strict=True))})"


def _shown(got):
    """Return a result as the table of inputs has it."""
    if isinstance(got, Exception):
        text = f"{_name(got)}: {_said(got)}"
    else:
        values = got if isinstance(got, (tuple, list)) else (got,)
        text = repr(got) if 0 < len(values) <= MOST_ITEMS and all(map(_is_number, values)) else _described(got)
    return text if len(text) <= 200 else f"{text[:200]} …"


def _said(error):
    """Return the words of an exception, of which one of the reader's own may have none, or half characters."""
    try:
        return str(error).encode(errors="backslashreplace").decode()
    except Exception as failure:
        return f"its words cannot be shown ({type(failure).__name__})"


def _described(got):
    return got.text if isinstance(got, Shown) else described(got)
