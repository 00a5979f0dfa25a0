"""What grading says of one submission: what stands in `grading/results/STUDENT/EXERCISE.json`."""

import json
from pathlib import Path
from typing import TypedDict

from course_lib.errors import CourseError


class Judgement(TypedDict):
    """What the check says of one answer: `kind` is that of the first finding, or ""; `told` and `html` are for the student."""

    passed: bool
    kind: str
    told: str
    html: str


class PartResult(Judgement):
    """A part of the exercise with the points it gets; `text` is the answer that was graded."""

    part: str
    name: str
    points: float
    maximum: float
    text: str


class Result(TypedDict):
    """A submission's result.

    `problem` says why nothing could be graded, or "". `key` is the hash of all that the result depends on; it is empty where the grader
    itself failed.
    """

    student: str
    exercise: str
    key: str
    graded: str
    points: float
    maximum: float
    problem: str
    notes: list[str]
    parts: list[PartResult]


def read_result(path: Path) -> Result:
    """Return a stored result.

    Raises
    ------
    CourseError
        When the file is damaged: it says what to do.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        if set(result) != set(Result.__annotations__) or not all(set(part) == set(PartResult.__annotations__) for part in result["parts"]):
            raise ValueError("it has other fields than a result")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise CourseError(f"{path} is damaged ({error}): delete it, and `make grade` makes it anew") from error
    return result
