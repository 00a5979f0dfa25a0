"""Read the questions: `deploy/questions.toml` in the repository, which students' bundles do not have.

    >>> asked = load(Path(__file__).parents[3])
    >>> len(asked.questions), asked.questions[0].letters
    (12, ('a', 'b', 'c', 'd'))
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError

FILE = "deploy/questions.toml"
COUNT = 12
LETTERS = "abcdef"
UNSURE = "?"                         # "I do not know yet", which every question offers


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from; `misconception` names what whoever chooses it may think, and is "" for the right one."""

    text: str
    misconception: str = ""


@dataclass(frozen=True)
class Question:
    """A question: the key of its answers, what it is about, its text and code, its options, and the section that teaches it."""

    key: str
    topic: str
    lesson: str
    section: str
    text: str
    code: str
    options: tuple[Option, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the letters of the options, in order."""
        return tuple(LETTERS[:len(self.options)])

    @property
    def right(self) -> str:
        """Return the letter of the right option."""
        return next(letter for letter, option in zip(self.letters, self.options, strict=True) if not option.misconception)


@dataclass(frozen=True)
class Inventory:
    """All questions; `version` says which answers belong to them."""

    version: int
    questions: tuple[Question, ...]


def load(root: Path) -> Inventory:
    """Return the questions of a repository.

    Raises
    ------
    CourseError
        When there are none, or a question does not keep to the form: it names the question and what is wrong.
    """
    path = root / FILE
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"there is no {FILE} here: run this in a clone of the course") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{FILE} cannot be read: {error}") from error
    questions = tuple(_question(table, f"{FILE}, question {number}") for number, table in enumerate(found.get("question", []), 1))
    keys = {question.key for question in questions}
    if len(keys) != COUNT or len(questions) != COUNT:
        raise CourseError(f"{FILE} has {len(questions)} questions with {len(keys)} keys; it must have {COUNT} of each")
    if not isinstance(found.get("version"), int):
        raise CourseError(f"{FILE} must say its version, a whole number")
    return Inventory(found["version"], questions)


def _question(table, where):
    names = ("key", "topic", "lesson", "section", "text")
    if missing := [name for name in names if not isinstance(table.get(name), str) or not table[name].strip()]:
        raise CourseError(f"{where}: {missing[0]} is missing")
    if unknown := set(table) - {*names, "code", "option"}:
        raise CourseError(f"{where}: {min(unknown)!r} is none of {', '.join(names)}, code, option")
    options = tuple(_option(option, f"{where}, option {number}") for number, option in enumerate(table.get("option", []), 1))
    right = sum(not option.misconception for option in options)
    if not 3 <= len(options) <= len(LETTERS) or right != 1:
        raise CourseError(f"{where} has {len(options)} options, {right} of them right; it needs 3 to {len(LETTERS)}, and one that is right")
    return Question(**{name: table[name] for name in names}, code=table.get("code", "").strip("\n"), options=options)


def _option(table, where):
    misconception, text = table.get("misconception", ""), table.get("text", "")
    if not text or set(table) - {"text", "right", "misconception"} or (table.get("right") is True) == bool(misconception):
        raise CourseError(f"{where} needs a text, and either `right = true` or the misconception behind it")
    return Option(text, misconception)
