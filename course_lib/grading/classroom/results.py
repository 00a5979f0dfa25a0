"""What grading says of one submission: what stands in `grading/results/STUDENT/EXERCISE.json`."""

from typing import TypedDict


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
