"""The class page's section on the twelve questions: items, misconceptions, and the gain of those who answered twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.inventory.answers import collected
from course_lib.grading.inventory.form import PHASES
from course_lib.grading.inventory.items import Analysis, analyse, normalised_gain
from course_lib.grading.inventory.questions import UNSURE, Inventory, load
from course_lib.grading.overview.charts import FEWEST
from course_lib.grading.overview.markup import Cell, percent, table
from course_lib.grading.overview.misconceptions import Misconception

_MOST = 12
_UNVALIDATED = ("<p>These questions are <strong>not validated</strong>: no class has taken them yet, and nobody has asked students how "
                "they read them. Each right answer is computed by a test, but whether a wrong one shows the misconception beside it is "
                "our judgement. Use the numbers to choose what to talk about, not to compare teachers or classes.</p>\n")


@dataclass(frozen=True)
class Items:
    """What the section is made from: the questions, the analysis of each phase, and that of those alone who answered in both."""

    inventory: Inventory
    phases: dict[str, Analysis]
    paired: dict[str, Analysis]


def section(classroom: Classroom) -> tuple[str, Items | None]:
    """Return the section as HTML, and what it says; None where there are too few answers to show any."""
    try:
        inventory = load(classroom.root)
    except CourseError as error:
        return f"<p>{escape(str(error))}</p>\n", None
    answers, right = collected(classroom, inventory), {question.key: question.right for question in inventory.questions}
    both = answers["before"].keys() & answers["after"].keys()
    counts = ", ".join(f"{len(found)} {PHASES[phase]}" for phase, found in answers.items())
    told = (f"<p>Answers: {counts}; {len(both)} answered both times. With fewer than {FEWEST} answers nothing is shown, as it would "
            "tell who chose what.</p>\n")
    phases = {phase: analyse(list(found.values()), right) for phase, found in answers.items() if len(found) >= FEWEST}
    paired = {phase: analyse([found[student] for student in both], right) for phase, found in answers.items() if len(both) >= FEWEST}
    items = Items(inventory, phases, paired)
    if not items.phases:
        return _UNVALIDATED + told, None
    return (_UNVALIDATED + told + "".join(_phase(items, phase) for phase in items.phases) + _gain(items)
            + "<h3>Misconceptions</h3>\n" + _misconceptions(items), items)


def _phase(items: Items, phase: str) -> str:
    found = items.phases[phase]
    rows = [(question.topic, percent(item.right, 1), _number(item.discrimination), *_chosen(question, item.chosen, found.count))
            for question, item in zip(items.inventory.questions, found.items, strict=True)]
    return (f"<h3>{PHASES[phase].capitalize()}</h3>\n<p>{found.count} students, {percent(found.mean, 1)} right on average. "
            f"Reliability (KR-20): {_number(found.reliability)}.</p>\n"
            + table(f"Each question {PHASES[phase]}. Discrimination is the correlation of a right answer with the number of right answers "
                    "to the other questions; the right option is marked with ✓",
                    ["question", "right", "discrimination", *"abcd", "do not know"], rows, numbers=range(1, 8)))


def _chosen(question, chosen, count):
    shares = [f"{'✓ ' if letter == question.right else ''}{percent(chosen[letter], count)}" for letter in (*question.letters, UNSURE)]
    return shares[:-1] + ["–"] * (4 - len(question.letters)) + shares[-1:]


def _gain(items: Items) -> str:
    if not items.paired:
        return ""
    before, after = items.paired["before"], items.paired["after"]
    rows = [(question.topic, percent(old.right, 1), percent(new.right, 1), _number(normalised_gain(old.right, new.right)))
            for question, old, new in zip(items.inventory.questions, before.items, after.items, strict=True)]
    rows.append(("all questions", percent(before.mean, 1), percent(after.mean, 1), _number(normalised_gain(before.mean, after.mean))))
    return ("<h3>What changed</h3>\n<p>The gain is the share that was gained of what could be gained: (after − before) / (1 − before). "
            "That is not what the course did: students also learn elsewhere, and they have seen the questions before.</p>\n"
            + table(f"The {before.count} students who answered both times", ["question", "right before", "right after", "gain"], rows,
                    numbers=(1, 2, 3)))


def _misconceptions(items: Items) -> str:
    """Return the misconceptions that most students showed in one phase or the other."""
    chosen = {phase: {item.key: item.chosen for item in found.items} for phase, found in items.phases.items()}
    shares = [([chosen[phase][question.key][letter] / found.count for phase, found in items.phases.items()], question, option)
              for question in items.inventory.questions
              for letter, option in zip(question.letters, question.options, strict=True) if option.misconception]
    most = sorted(shares, key=lambda one: -max(one[0]))[:_MOST]
    rows: list[Sequence[Cell]] = [
        (option.misconception, *(percent(share, 1) for share in found), ("long", escape(option.text)), ("long", _link(question)))
        for found, question, option in most if max(found)]
    return table(f"The {_MOST} most frequent misconceptions. class_questions.csv has all of them",
                 ["somebody may think", *items.phases, "by the answer", "what answers it"], rows, numbers=range(1, len(items.phases) + 1))


def _link(question):
    row = Misconception("", "", question.lesson, question.section)
    return f'<a href="{escape(row.link)}">lesson {row.lesson[:2]}, <i>{escape(row.section)}</i></a>'


def _number(value):
    return "–" if value is None else f"{value:.2f}"


def item_rows(items: Items) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Return the head and the rows of a table with a row for each option of each question in each phase."""
    rows = [(phase, question.key, letter, getattr(option, "misconception", ""), int(letter == question.right), item.chosen[letter],
             found.count, "" if item.discrimination is None else round(item.discrimination, 4))
            for phase, found in items.phases.items() for question, item in zip(items.inventory.questions, found.items, strict=True)
            for letter, option in [*zip(question.letters, question.options, strict=True), (UNSURE, None)]]
    return ("phase", "question", "option", "misconception", "right", "chosen", "students", "discrimination"), rows
