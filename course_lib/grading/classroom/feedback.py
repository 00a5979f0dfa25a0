"""A page for each student: marks, what the check says, the answer that was graded. One HTML file that loads nothing."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.grades import stored
from course_lib.grading.classroom.late import Late, clock, lateness
from course_lib.grading.classroom.results import Result

_STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222;
       background: #fff }
pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; font-size: 13px; line-height: 1.35 }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top }
.note { border-left: 4px solid #888; padding-left: .8rem }"""


def feedback(classroom: Classroom, exercise: str) -> Iterator[Path]:
    """Write the page of every student who has a result; yield each page.

    Raises
    ------
    CourseError
        When nothing was graded yet.
    """
    results, damaged = stored(classroom, exercise)
    if damaged:
        raise CourseError("\n".join(damaged))
    if not results:
        raise CourseError(f"nothing of {exercise} was graded yet: run `make grade`")
    late = lateness(classroom, exercise, results)
    for student, result in results.items():
        path = classroom.feedback(student, exercise)
        write(path, page(result, late[student]))
        yield path


def page(result: Result, late: Late | None = None) -> str:
    """Return a result as an HTML page; everything that a student wrote is escaped.

    >>> "<script>" in page({"student": "<script>", "exercise": "04", "points": 1, "maximum": 2, "problem": "", "notes": [], "parts": []})
    False
    """
    title = escape(f"{result['exercise']}: {result['student']}")
    rows = "".join(f"<tr><td>{escape(part['name'])}</td><td>{part['points']:g} of {part['maximum']:g}</td>"
                   f"<td>{escape('passed' if part['passed'] else part['kind'])}</td></tr>" for part in result["parts"])
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in (result["problem"], *result["notes"]) if note)
    late = late or Late()
    parts = "".join(map(_part, result["parts"])) if not result["problem"] else ""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head><body>\n'
            f"<h1>{title}</h1><p>{_points(result, late)}</p>\n{_times(late)}\n"
            f"<table><thead><tr><th>answer</th><th>points</th><th>result</th></tr></thead><tbody>{rows}</tbody></table>\n{notes}{parts}</body></html>\n")


def _points(result, late):
    points = round(result["points"] * late.factor, 4)
    less = f": {result['points']:g} for the answers, × {late.factor:g} for being late" if late.factor != 1 else ""
    return f"<strong>{points:g} of {result['maximum']:g} points</strong>{less}"


def _times(late):
    """Return when it was due and when it came, how late that is and what it costs, as a table."""
    rows = [(name, f"{clock(time)}{words}") for name, time, words in (
        ("due", late.due, " (extended for you)" * late.extended), ("submitted", late.submitted, "")) if time]
    rows += [("late", late.words)] if late.words else []
    told = "".join(f'<tr><th scope="row">{name}</th><td>{escape(words)}</td></tr>' for name, words in rows)
    return f"<table>{told}</table>" if told else ""


def _part(part):
    told = part["html"] or f"<p>{escape(part['told'])}</p>"
    lines = "\n".join(f"{number:>4} | {escape(text)}" for number, text in enumerate(part["text"].split("\n"), 1))
    text = f"<details><summary>The answer that was graded</summary><pre>{lines}</pre></details>" if part["text"] else ""
    return f"<h2>{escape(part['name'])}</h2>{told}{text}\n"
