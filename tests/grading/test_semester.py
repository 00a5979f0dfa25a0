"""docs/semester.md: its minutes and points are those that lessons and exercises state, and its sums are right."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/semester.md").read_text(encoding="utf-8")
PLANS = {"Fourteen weeks": 14, "Six weeks": 6}


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def of_number(folder, number):
    """Return the notebook of a lesson or an exercise."""
    return next(ROOT.glob(f"{folder}/**/{number}_*.ipynb"))


def minutes(path):
    """Return the minutes that a notebook's first cell states."""
    return int(re.search(r"^\*(?:About )?(\d+) minutes", "".join(cells(path)[0]["source"]), re.MULTILINE)[1])


def points(path):
    return sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in cells(path))


def table(section):
    """Return the rows of a section's table, each a list of its fields."""
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    return [[field.strip() for field in line.strip("|").split("|")] for line in text.splitlines() if re.match(r"\| (\d|all)", line)]


def weeks(plan):
    """Return the rows of a plan: week, lesson, minutes, exercise, minutes, points, all minutes; – is 0."""
    return [[row[0], row[1], number(row[2]), row[3], *map(number, row[4:])] for row in table(plan)]


def number(text):
    return 0 if text == "–" else int(text)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_has_the_minutes_and_points_of_what_it_names(plan):
    *rows, last = weeks(plan)
    assert [row[0] for row in rows] == [str(week + 1) for week in range(PLANS[plan])]
    for week, lesson, lesson_minutes, exercise, exercise_minutes, exercise_points, together in rows:
        named = re.findall(r"(?:^|and )(\d\d) ", lesson)
        assert lesson_minutes == sum(minutes(of_number("notebooks", name)) for name in named), week
        path = of_number("exercises", exercise[:2]) if exercise_points else None
        assert (exercise_minutes, exercise_points) == ((minutes(path), points(path)) if path else (0, 0)), week
        assert together == lesson_minutes + exercise_minutes, week
    sums = [sum(row[column] for row in rows) for column in (2, 4, 5, 6)]
    assert [last[column] for column in (2, 4, 5, 6)] == sums


def test_the_long_plan_has_every_lesson_and_every_exercise_that_it_names():
    rows = weeks("Fourteen weeks")
    assert [row[1][:2] for row in rows if row[2] and row[0] != "all"] == [f"{n:02}" for n in range(9)]
    assert [row[3][:2] for row in rows if row[5] and row[0] != "all"] == [f"{n:02}" for n in range(1, 9)]


def test_the_table_of_later_lessons_has_their_minutes_and_points_and_those_of_their_exercises():
    *rows, last = [[row[0], number(row[1]), row[2], number(row[3]), number(row[4])] for row in table("After lesson 08")]
    later = [path.name[:2] for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")) if path.name > "09"]
    assert [row[0][:2] for row in rows] == later
    with_one = [path.name[:2] for path in sorted((ROOT / "exercises").glob("[0-9][0-9]_*")) if path.name > "09"]
    assert [row[0][:2] for row in rows if row[2] != "–"] == [row[2][:2] for row in rows if row[2] != "–"] == with_one
    for lesson, lesson_minutes, exercise, exercise_minutes, exercise_points in rows:
        assert lesson_minutes == minutes(of_number("notebooks", lesson[:2])), lesson
        path = of_number("exercises", exercise[:2]) if exercise != "–" else None
        assert (exercise_minutes, exercise_points) == ((minutes(path), points(path)) if path else (0, 0)), exercise
    assert [last[column] for column in (1, 3, 4)] == [sum(row[column] for row in rows) for column in (1, 3, 4)]


def test_every_exercise_but_two_has_a_second_main_part():
    for n in {*range(1, 20)} - {11, 18}:
        tags = {tag for cell in cells(of_number("solutions", f"{n:02}")) for tag in cell["metadata"].get("tags", [])}
        assert {"variant-a", "variant-b"} <= tags
