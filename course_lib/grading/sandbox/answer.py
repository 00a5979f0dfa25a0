"""What runs in the sandbox for Python: define a student's function, call it, write what it returns as lines of JSON.

A program of its own, which imports nothing of the course: `python answer.py`, the task on stdin. `replies.py` validates
whatever it writes, as the function may have written it.
"""

import json
import math
import numbers
import os
import resource
import sys
import traceback
from collections.abc import Callable

LIMITS = {"RLIMIT_AS": 2 << 30, "RLIMIT_FSIZE": 1 << 20, "RLIMIT_NOFILE": 64, "RLIMIT_CORE": 0}
MOST_WORDS = 300           # characters of an error's message, or of a value that is no number
MOST_BITS = 1000           # of a whole number; a float has no room for more


def main() -> None:
    """Read the task, then answer with a line for each call."""
    task = json.loads(sys.stdin.buffer.read())
    reply = os.fdopen(os.dup(1), "w", encoding="ascii")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for name, value in LIMITS.items():
        resource.setrlimit(getattr(resource, name), (value, value))

    def tell(line):
        reply.write(f"{json.dumps(line)}\n")
        reply.flush()

    answer(task, tell)
    os._exit(0)                # nothing that was left for the end runs


def answer(task: dict, tell: Callable[[dict], None]) -> None:
    """Do a task: text, name, arguments (a list for each call); `tell` each result."""
    namespace: dict = {"__name__": "answer", "math": math, **_numpy(task["text"])}
    tell({"ready": 1})
    try:
        exec(compile(task["text"], "<answer>", "exec"), namespace)
    except BaseException as error:
        tell(_failure(error) | {"last": 1})
        return
    function = namespace.get(task["name"])
    if not callable(function):
        tell({"missing": 1})
        return
    for given in task["arguments"]:
        try:
            line = _value(function(*map(_tuples, given)))
        except BaseException as error:
            line = _failure(error)
        tell(line)


def _numpy(text):
    """Return np where the text speaks of it: lessons import it in a cell before the answer's."""
    if "np" not in text:
        return {}
    import numpy
    return {"np": numpy}


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _value(got):
    if isinstance(got, (tuple, list)):
        found = [_number(item) for item in got[:100]]
        return {"numbers": found} if None not in found else {"other": _words(got)}
    found = _number(got)
    return {"number": found} if found is not None else {"other": _words(got)}


def _number(value):
    """Return a number as int or float, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    if isinstance(value, numbers.Integral):
        value = int(value)
        return value if value.bit_length() <= MOST_BITS else None
    return float(value)


def _words(value):
    try:
        return repr(value)[:MOST_WORDS]
    except BaseException as error:
        return f"{type(value).__name__}, which cannot be shown ({type(error).__name__})"


def _failure(error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<answer>"]
    line = lines[-1] if lines else getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    try:
        words = str(error.msg if isinstance(error, SyntaxError) else error)[:MOST_WORDS]
    except BaseException:
        words = ""
    return {"error": type(error).__name__[:60], "words": words, "line": line}


if __name__ == "__main__":
    main()
