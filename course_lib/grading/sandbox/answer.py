"""What runs in the sandbox for Python: define a student's function, call it, write what it returns as lines of JSON.

A program of its own, which imports nothing of the course: `python answer.py`, the task on stdin. `replies.py` validates
whatever it writes, as the function may have written it.
"""

import json
import math
import numbers
import os
import sys
import traceback
from collections.abc import Callable

LIMITS = {"RLIMIT_AS": 2 << 30, "RLIMIT_FSIZE": 1 << 20, "RLIMIT_NOFILE": 64, "RLIMIT_CORE": 0}
MOST_ITEMS = 100           # numbers of a tuple
NUMBERS = ("no", *["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"])
KINDS = {"str": "text", "complex": "complex number"}
MOST_WORDS = 300           # characters of an error's message, or of a value that is no number
MOST_BITS = 1000           # of a whole number; a float has no room for more


def main() -> None:
    """Read the task, then answer with a line for each call."""
    import resource  # here, as Windows has none: what is below is asked there, too, in a student's own notebook
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
        found = [_number(item) for item in got[:MOST_ITEMS + 1]]
        if None in found or len(found) > MOST_ITEMS:
            return {"other": described(got)}
        return {"numbers": found, "list": isinstance(got, list)}
    found = _number(got)
    return {"number": found} if found is not None else {"other": described(got)}


def _number(value):
    """Return a number as int or float, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    if isinstance(value, numbers.Integral):
        value = int(value)
        return value if value.bit_length() <= MOST_BITS else None
    return float(value)


def described(value: object) -> str:
    """Say what a function returned where other numbers were asked for: type, length or shape, and itself.

    >>> described(None), described([1, 2.5]), described((1, [2]))
    ('None: is there a `return` with the result?', 'a list of two numbers, [1, 2.5]', 'a tuple of a number and a list, (1, [2])')
    """
    try:
        words = _kind(value)
    except BaseException as error:
        return f"{type(value).__name__[:60]}, which cannot be shown ({type(error).__name__[:60]})"
    return words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]} …"


def _kind(value):
    name = type(value).__name__
    if value is None:
        return "None: is there a `return` with the result?"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a whole number of some {value.bit_length() * 0.30103:.0f} digits, too large for a float"
    if isinstance(value, (tuple, list)):
        return f"{_one(name)} of {_items(value)}, {value!r}"
    if name == "ndarray":
        return f"a NumPy array of shape {value.shape} and dtype {value.dtype}, {value!r}: take its numbers out by .item() or .tolist()"
    if hasattr(value, "__next__"):
        return f"{_one(name)}, which has not computed anything yet: put tuple(…) around it"
    if "function" in name or name == "method":
        return "a function: call it, and return what it gives"
    return f"{'one number' if _number(value) is not None else _one(KINDS.get(name, name))}, {value!r}"


def _items(values):
    """Say what a tuple or a list holds: "two numbers", "a number and None"."""
    kinds = ["None" if item is None else "number" if _number(item) is not None else KINDS.get(type(item).__name__, type(item).__name__)
             for item in values[:MOST_ITEMS]]
    if len(set(kinds)) > 1 and len(kinds) <= 4:
        *first, last = (kind if kind == "None" else _one(kind) for kind in kinds)
        return f"{', '.join(first)} and {last}"
    return counted(len(values), "number" if set(kinds) == {"number"} else kinds[0] if len(set(kinds)) == 1 else "item")


def counted(number: int, noun: str) -> str:
    """Return "two numbers", "one number"; figures from 13 on."""
    return f"{NUMBERS[number] if number < len(NUMBERS) else number} {noun}{'s' * (number != 1)}"


def _one(name):
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name[:60]}"


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
