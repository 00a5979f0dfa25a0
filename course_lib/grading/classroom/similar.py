"""Which kernels of a class are suspiciously alike: passages in common that neither the exercise nor many others have.

A kernel is read as words and signs, names, numbers and comments included. A passage is nine of them in a row. Passages of the starter
and of the instructor's solution do not count, nor those that more than a quarter of the class has (but at least four students): the
exercise leads to them. The idea of comparing short passages is that of Schleimer, Wilkerson and Aiken, "Winnowing" (2003).
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from course_lib.grading.classroom.normalise import Question
from course_lib.grading.classroom.results import Result

PASSAGE = 9
ENOUGH = 12           # unusual passages; fewer tell nothing
ALIKE = 0.5
_WORD = re.compile(r"//[^\n]*|/\*.*?\*/|\w+|[^\w\s]", re.DOTALL)


def similar(results: Mapping[str, Result], asked: Sequence[Question], solved: Mapping[str, str]) -> list[tuple[str, str, str, float, int]]:
    """Compare all kernels of an exercise with each other.

    Parameters
    ----------
    results
        Student -> result.
    solved
        Part -> the instructor's kernel.

    Returns
    -------
    list of tuple
        (part, student, other, share of the smaller one's unusual passages that both have, how many those are), the most alike first.
    """
    found: list[tuple[str, str, str, float, int]] = []
    for question in asked:
        texts = {student: part["text"] for student, result in results.items()
                 for part in result["parts"] if part["part"] == question.part and part["text"].strip()}
        found += [(question.part, *pair) for pair in _pairs(texts, passages(question.starter) | passages(solved[question.part]))]
    return sorted(found, key=lambda row: (-row[3], -row[4], row[:3]))


def passages(text: str) -> set[tuple[str, ...]]:
    """Return the passages of a kernel.

    >>> len(passages("float x = A[row * lda + k];"))
    4
    """
    words = _WORD.findall(text)
    return {tuple(words[i:i + PASSAGE]) for i in range(len(words) - PASSAGE + 1)}


def _pairs(texts, given):
    own = {student: passages(text) - given for student, text in texts.items()}
    counts = Counter(itertools.chain.from_iterable(own.values()))
    common = {passage for passage, count in counts.items() if count > max(4, len(texts) / 4)}
    own = {student: found - common for student, found in own.items()}
    for (one, mine), (other, theirs) in itertools.combinations(own.items(), 2):
        fewer = min(len(mine), len(theirs))
        shared = len(mine & theirs)
        if fewer >= ENOUGH and shared / fewer >= ALIKE:
            yield one, other, round(shared / fewer, 3), shared
