"""The questions of the self-checks: a TOML file in each lesson's package, read and judged here. No widgets.

A file holds five tables `[[question]]`, each with a `key` under which the reader's answer is stored, a `kind` and a `text`.
Between backticks stands code, but not in an option. Nothing else is marked up: asterisks would be seen.

- `kind = "choice"`: tables `[[question.option]]` with `text` and `feedback`, one of them with `right = true`.
- `kind = "number"`: `answer`, `unit`, `right` and `wrong` (what a reader is told then), `check` (a Python expression that
  computes the answer; the tests evaluate it), and, for numbers that a known mistake gives, tables `[[question.mistake]]`
  with `value` and `feedback`. `tolerance` is relative, 0.005 unless it is given.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError

FOLDER = Path(__file__).resolve().parent.parent / "lessons"
COUNT = 5                 # questions of a lesson
TOLERANCE = 0.005         # relative; a number that is rounded to three digits is right
EMPHASIS = re.compile(r"(?<!\w)(\*{1,2}|_)\w[^*_`]*\1(?!\w)")        # as Markdown has it


@dataclass(frozen=True)
class Judged:
    """What a reader is told about an answer."""

    right: bool
    feedback: str


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from, and what a reader who chooses it is told."""

    text: str
    feedback: str
    right: bool = False


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with one right option."""

    key: str
    text: str
    options: tuple[Option, ...]
    check: str = ""

    def judge(self, answer: str | None) -> Judged | None:
        """Judge the text of an option; None when it is none of them (any more)."""
        chosen = next((option for option in self.options if option.text == answer), None)
        return None if chosen is None else Judged(chosen.right, chosen.feedback)


@dataclass(frozen=True)
class NumberQuestion:
    """A question whose answer is a number.

    Attributes
    ----------
    answer, tolerance
        Right is what differs by at most `tolerance * abs(answer)`.
    mistakes
        (value, feedback): numbers that a known mistake gives.
    check
        A Python expression for the answer.
    """

    key: str
    text: str
    unit: str
    answer: float
    right: str
    wrong: str
    check: str
    mistakes: tuple[tuple[float, str], ...] = ()
    tolerance: float = TOLERANCE

    def judge(self, value: float) -> Judged:
        """Judge a number.

        >>> q = NumberQuestion("k", "?", "threads", 64, "Yes.", "No.", "8 * 8", ((16, "That is the rim."),))
        >>> q.judge(64), q.judge(16).feedback, q.judge(float("nan")).feedback
        (Judged(right=True, feedback='Yes.'), 'That is the rim.', 'No.')
        """
        if self._is(value, self.answer):
            return Judged(True, self.right)
        return Judged(False, next((says for wrong, says in self.mistakes if self._is(value, wrong)), self.wrong))

    def _is(self, value, wanted):
        return abs(value - wanted) <= self.tolerance * abs(wanted)


Question = ChoiceQuestion | NumberQuestion


def lessons(folder: str | Path = FOLDER) -> dict[str, Path]:
    """Return the lessons that have a self-check, as a mapping of number to file.

    >>> lessons()["04"].parent.name
    'tiling'
    """
    return {number(path): path for path in sorted(Path(folder).glob("*/questions_[0-9][0-9].toml"), key=number)}


def number(path: Path) -> str:
    """Return the lesson's number, which ends the file's name."""
    return path.stem[-2:]


def load(lesson: str, folder: str | Path = FOLDER) -> tuple[Question, ...]:
    """Return the five questions of a lesson.

    Parameters
    ----------
    lesson
        Its number in two digits, "04".

    Raises
    ------
    CourseError
        When there is no such file, or it does not keep to the form: names the question and what is wrong.
    """
    known = lessons(folder)
    if lesson not in known:
        raise CourseError(f"there is no self-check for lesson {lesson!r}, only for {', '.join(known)}", lesson=lesson)
    path = known[lesson]
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("question", [])
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path.name} is no TOML: {error}", lesson=lesson) from None
    if len(tables) != COUNT:
        raise CourseError(f"{path.name} has {len(tables)} questions; a self-check has {COUNT}", lesson=lesson)
    found = tuple(_question(table, f"{path.name}, question {n}") for n, table in enumerate(tables, 1))
    if len({question.key for question in found}) != COUNT:
        raise CourseError(f"{path.name} has two questions with one key: the answers would be mixed up", lesson=lesson)
    return found


def _question(table, where):
    kinds = {"choice": _choice, "number": _number}
    kind = table.get("kind")
    if kind not in kinds:
        raise CourseError(f"{where}: kind is {kind!r}, not one of {', '.join(kinds)}")
    _words(table, ("key", "text"), where)
    return kinds[kind](table, where)


def _choice(table, where):
    _known(table, ("key", "kind", "text", "option", "check"), where)
    options = table.get("option", [])
    for number, option in enumerate(options, 1):
        _known(option, ("text", "feedback", "right"), f"{where}, option {number}")
        _words(option, ("text", "feedback"), f"{where}, option {number}")
        if "`" in option["text"]:
            raise CourseError(f"{where}, option {number}: a button shows plain text, and backticks as they are")
    right = sum(option.get("right") is True for option in options)
    if len(options) < 3 or right != 1:
        raise CourseError(f"{where} has {len(options)} options, {right} of them right; it needs three or more, and one that is right")
    if len({option["text"] for option in options}) != len(options):
        raise CourseError(f"{where} offers the same answer twice")
    return ChoiceQuestion(table["key"], table["text"], tuple(Option(**option) for option in options), table.get("check", ""))


def _number(table, where):
    facts = {name: value for name, value in table.items() if name not in ("kind", "mistake")}
    _known(facts, ("key", "text", "unit", "answer", "right", "wrong", "check", "tolerance"), where)
    _words(table, ("unit", "right", "wrong", "check"), where)
    if not isinstance(table.get("answer"), int | float):
        raise CourseError(f"{where}: answer is {table.get('answer')!r}, not a number")
    for mistake in table.get("mistake", []):
        _known(mistake, ("value", "feedback"), f"{where}, mistake")
        _words(mistake, ("feedback",), f"{where}, mistake")
    question = NumberQuestion(**facts, mistakes=tuple((m["value"], m["feedback"]) for m in table.get("mistake", [])))
    for value, _ in question.mistakes:
        if question.judge(value).right:
            raise CourseError(f"{where}: the mistake {value} counts as right")
    return question


def _known(table, names, where):
    for name in table:
        if name not in names:
            raise CourseError(f"{where}: {name!r} is none of {', '.join(names)}")


def _words(table, names, where):
    for name in names:
        if not isinstance(table.get(name), str) or not table[name].strip():
            raise CourseError(f"{where}: {name} is missing")
        if found := name != "check" and EMPHASIS.search(re.sub(r"`[^`]*`", "", table[name])):
            raise CourseError(f"{where}: {name} has {found[0]}, whose marks would be seen: only code between backticks is marked up")
