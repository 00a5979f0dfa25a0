"""The page of the class: who passed what, what was found and what it may show, marks over time, who has not begun, the questions.

Without names nothing in it belongs to one student: it has counts and shares only, and marks only where at least `charts.FEWEST` have some.
"""

from collections import Counter
from collections.abc import Sequence
from html import escape

from course_lib.grading.overview.charts import FEWEST, bar, marks_over_time, quartiles
from course_lib.grading.overview.markup import Cell, document, grouped, percent, table
from course_lib.grading.overview.misconceptions import OF_EXERCISE, UNTOUCHED, Misconception, misconception
from course_lib.grading.overview.reading import ClassView, ExerciseView, PartView, by_count

TITLE = "The class at a glance"
_NEXT = 5                                # findings of the newest exercise that are named first
_ANSWER = ("somebody may think", "what answers it")
_SECTIONS = (("passed", "Who passed"), ("findings", "What was found"), ("ideas", "What it may show"), ("marks", "Marks over time"),
             ("begun", "Who has not begun"), ("questions", "Twelve questions, before and after"))


def page(view: ClassView, questions: str, day: str, names: bool = False) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    questions
        The section on the concept inventory, as HTML.
    day
        When it was made, in words.
    names
        Whether students are named; such a page is not for a projector.
    """
    graded = [exercise for exercise in view.exercises if exercise.graded]
    warning = "<p><strong>This page names students. It is not for a projector.</strong></p>" if names else ""
    body = {"begun": _not_begun(view, names), "questions": questions}
    if graded:
        body |= {"passed": _passed(graded, len(view.students)), "findings": _findings(graded), "ideas": _ideas(graded),
                 "marks": _marks(graded)}
    there = [(name, words) for name, words in _SECTIONS if name in body]
    links = "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in there)
    sections = "".join(f'<section aria-labelledby="{name}"><h2 id="{name}">{words}</h2>\n{body[name]}</section>\n' for name, words in there)
    everybody = f"<section><h2>Everybody</h2>\n{_everybody(view)}</section>\n" if names else ""
    return document(TITLE + (", with names" if names else ""),
                    f"{warning}<p class='soft'>Made on {escape(day)}.</p>{_facts(view, graded)}{_remarks(view)}"
                    f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n{_next(graded)}{sections}{everybody}')


def _facts(view, graded):
    facts = (("students" if view.has_roster else "students who submitted something", len(view.students)),
             ("exercises with results", len(graded)),
             ("have submitted nothing", len(view.not_begun) if view.has_roster else "–"))
    return '<dl class="facts">' + "".join(f"<div><dt>{words}</dt><dd>{number}</dd></div>" for words, number in facts) + "</dl>\n"


def _remarks(view):
    said = []
    if not view.has_roster:
        said.append("There is no grading/roster.csv, so the class is whoever submitted something, and nobody can be missing.")
    if view.others:
        said.append(f"Submissions of people who are not on the roster, which are not counted here: {view.others}.")
    if view.damaged:
        said.append(f"Stored results that are damaged, and left out: {len(view.damaged)}. Delete them, and make grade makes them anew.")
    return "".join(f"<p>{escape(words)}</p>\n" for words in said)


def _next(graded: Sequence[ExerciseView]) -> str:
    """Name what the newest exercise showed most often: what to begin the next lecture with."""
    if not graded:
        return "<p>Nothing has been graded yet. <code>make collect</code> and <code>make grade</code> come first.</p>\n"
    newest = graded[-1]
    found = Counter({(part.title, kind): count for part in newest.parts for kind, count in part.findings.items() if kind != UNTOUCHED})
    if not found:
        return f"<p>In the newest exercise, {_title(newest.name)}, everything that was begun is passed.</p>\n"
    rows = [(title, misconception(newest.name, kind).seen, count, *_answer(misconception(newest.name, kind)))
            for (title, kind), count in by_count(found)[:_NEXT]]
    return "<section><h2>For the next lecture</h2>\n" + table(
        f"What the newest exercise, {_title(newest.name)}, showed most often", ["part", "the check saw", "students", *_ANSWER],
        rows, numbers=(2,)) + "</section>\n"


def _passed(graded: Sequence[ExerciseView], students: int) -> str:
    keys = " ".join(f'<svg class="key" viewBox="0 0 1 1" aria-hidden="true"><rect class="{name}" width="1" height="1"/></svg> {words}&emsp;'
                    for name, words in (("passed", "passed"), ("failed", "graded, not passed"), ("open", "no result")))
    groups = [(_title(exercise.name), [_part(part, exercise.graded, students) for part in exercise.parts]) for exercise in graded]
    return f"<p>{keys}</p>\n" + grouped(
        f"Who passed each part: as a share of all {students} students, and of those who have a result",
        ["exercise", "part", "passed", "of all", "", "of graded", "not passed", "no result"], groups, numbers=(2, 3, 5, 6, 7))


def _part(part: PartView, graded: int, students: int) -> Sequence[Cell]:
    failed, rest = sum(part.findings.values()), students - graded
    drawn = bar([("passed", part.passed / students), ("failed", failed / students), ("open", rest / students)])
    return part.title, part.passed, percent(part.passed, students), ("", drawn), percent(part.passed, graded), failed, rest


def _findings(graded: Sequence[ExerciseView]) -> str:
    found = {exercise.name: sum((part.findings for part in exercise.parts), Counter()) for exercise in graded}
    kinds = sum(found.values(), Counter())
    if not kinds:
        return "<p>Nothing was found.</p>\n"
    rows = [(misconception("", kind).seen, total, *(found[name][kind] or ("zero", "–") for name in found))
            for kind, total in by_count(kinds)]
    return ("<p>Of each part that is not passed, the finding that its author should repair first. Whoever has it in two parts counts "
            "twice.</p>\n"
            + table("How often each kind of finding occurred, by exercise", ["the check saw", "all", *(name[:2] for name in found)], rows,
                    numbers=range(1, len(found) + 2)))


def _ideas(graded: Sequence[ExerciseView]) -> str:
    """Bring together what one section answers: of an exercise its gates and its predictions, of all exercises the races."""
    answered: dict[tuple[Cell, Cell], Counter[tuple[str, str]]] = {}
    for exercise in graded:
        for kind, times in sum((part.findings for part in exercise.parts), Counter()).items():
            row = misconception(exercise.name, kind)
            seen = f"the idea of {_title(exercise.name)}" if kind in OF_EXERCISE else row.seen
            if row.link:
                answered.setdefault(_answer(row), Counter())[seen, exercise.name[:2]] += times
    if not answered:
        return "<p>Nothing was found that a lesson answers.</p>\n"
    rows = [("; ".join(sorted({seen for seen, _ in found})), found.total(), _numbers({name for _, name in found}), *answer)
            for answer, found in sorted(answered.items(), key=lambda one: (-one[1].total(), one[0]))]
    return ("<p>A finding says what a kernel did, not what its author thought. Take each line as a question to ask. An exercise's idea "
            "stands for its gates, what is looked at behind them, and the numbers that its functions predict.</p>\n"
            + table("Findings that a lesson answers, the most frequent first, and the misunderstanding that each may show",
                    ["the check saw", "parts", "exercises", *_ANSWER], rows, numbers=(1,)))


def _numbers(names):
    """Return "04, 05", or how many exercises it are."""
    return ", ".join(sorted(names)) if len(names) <= 4 else f"{len(names)} exercises"


def _marks(graded: Sequence[ExerciseView]) -> str:
    shown = [(exercise.name[:2], _day(exercise), list(exercise.marks.values())) for exercise in graded if exercise.graded >= FEWEST]
    chart = ('<figure><div class="scroll" role="region" tabindex="0" aria-label="Marks over time">'
             f"{marks_over_time(shown)}</div></figure>\n" if shown else "")
    rows = [(_title(exercise.name), _day(exercise) or "–", exercise.graded, *_quarters(list(exercise.marks.values())))
            for exercise in graded]
    return (f"<p>Shares of the points that count, with lateness and corrections by hand, of those who have a result. With fewer than "
            f"{FEWEST} results none are shown, as they would tell whose they are.</p>\n{chart}"
            + table("Marks of each exercise, in the order in which they were due",
                    ["exercise", "day", "results", "lower quartile", "median", "upper quartile"], rows, numbers=(2, 3, 4, 5)))


def _quarters(marks):
    return [percent(share, 1) for share in quartiles(marks)] if len(marks) >= FEWEST else ["–"] * 3


def _not_begun(view: ClassView, names: bool) -> str:
    if not view.has_roster:
        return "<p>Without a roster nobody knows who is missing.</p>\n"
    students = len(view.students)
    rows = [(_title(exercise.name), _day(exercise) or "–", students - len(exercise.submitted),
             percent(students - len(exercise.submitted), students), _untouched(exercise)) for exercise in view.exercises]
    who = ""
    if names and view.not_begun:
        who = "<ul>" + "".join(f"<li>{escape(view.students[student] or student)}</li>" for student in view.not_begun) + "</ul>\n"
    return (f"<p>{len(view.not_begun)} of {students} have submitted nothing at all.</p>\n{who}"
            + (table("Who has submitted nothing, by exercise. The last column has the parts that were submitted as they were handed out.",
                     ["exercise", "day", "students", "of the class", "parts left as they were"], rows, numbers=(2, 3, 4)) if rows else ""))


def _untouched(exercise):
    return sum(part.findings[UNTOUCHED] for part in exercise.parts)


def _everybody(view: ClassView) -> str:
    def mark(exercise, student):
        if student in exercise.marks:
            return percent(exercise.marks[student], 1)
        return "not graded" if student in exercise.submitted else ("zero", "–")

    rows = [(name or student, *(mark(exercise, student) for exercise in view.exercises))
            for student, name in sorted(view.students.items(), key=lambda one: (one[1] or one[0]).casefold())]
    return table("The marks of everybody. A dash: nothing submitted.",
                 ["student", *(exercise.name[:2] for exercise in view.exercises)], rows, numbers=range(1, len(view.exercises) + 1))


def _answer(row: Misconception) -> tuple[Cell, Cell]:
    """Return the cells of what somebody may think and of the section that answers it."""
    link = f'<a href="{escape(row.link)}">lesson {row.lesson[:2]}, <i>{escape(row.section)}</i></a>' if row.link else "–"
    return ("long", escape(row.idea)), ("long", link)


def _title(name):
    """Return an exercise's name as it is read.

    >>> _title("06_bank_conflicts")
    '06 bank conflicts'
    """
    return name.replace("_", " ")


def _day(exercise):
    return exercise.when.strftime("%d\N{NO-BREAK SPACE}%b") if exercise.when else ""
