"""What answers say of the questions: difficulty, discrimination, misconceptions, reliability and gain. Formulas alone, no files.

An answer is a mapping of question to letter; a test is right or wrong in each question.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Item:
    """One question in one phase.

    Attributes
    ----------
    right
        The share of students who answered it rightly: its difficulty, where 1 is easy.
    discrimination
        The correlation of being right here with the number of right answers to the *other* questions (the corrected point-biserial
        correlation); None where everybody or nobody is right, or all have as many of the others right.
    chosen
        How many chose each letter.
    """

    key: str
    right: float
    discrimination: float | None
    chosen: Counter[str]


@dataclass(frozen=True)
class Analysis:
    """All questions in one phase: students, the mean share of right answers, KR-20 (None where it has no value), the items."""

    count: int
    mean: float
    reliability: float | None
    items: tuple[Item, ...]


def analyse(answers: Sequence[Mapping[str, str]], key: Mapping[str, str]) -> Analysis:
    """Return what the answers of one student or more say of each question.

    Parameters
    ----------
    key
        Question -> the right letter.
    """
    scores = np.array([[given[name] == right for name, right in key.items()] for given in answers], dtype=float)
    items = tuple(Item(name, float(scores[:, at].mean()), _correlation(scores[:, at], np.delete(scores, at, axis=1).sum(axis=1)),
                       Counter(given[name] for given in answers)) for at, name in enumerate(key))
    return Analysis(len(answers), float(scores.mean()), kr20(scores), items)


def kr20(scores: np.ndarray) -> float | None:
    """Return the reliability of a test by Kuder and Richardson's formula 20, which is Cronbach's alpha of answers that are right or wrong.

    Parameters
    ----------
    scores
        (students, questions), 1 for right and 0 for wrong.

    Returns
    -------
    k / (k - 1) · (1 - Σ p (1 - p) / σ²), with p the share right of each question and σ² the variance of the totals, both divided by the
    number of students; None with one question, or where all totals are the same.
    """
    questions, variance = scores.shape[1], float(scores.sum(axis=1).var())
    if questions < 2 or variance == 0:
        return None
    right = scores.mean(axis=0)
    return questions / (questions - 1) * (1 - float((right * (1 - right)).sum()) / variance)


def _correlation(item: np.ndarray, rest: np.ndarray) -> float | None:
    if item.std() == 0 or rest.std() == 0:
        return None
    return float(((item - item.mean()) * (rest - rest.mean())).mean() / (item.std() * rest.std()))


def normalised_gain(before: float, after: float) -> float | None:
    """Return how much of what could be gained was gained: (after - before) / (1 - before), of shares right; None where before is 1.

    Of class means it is Hake's average normalised gain (American Journal of Physics 66, 1998, 64). It is negative where the share fell.

    >>> normalised_gain(0.5, 0.75), normalised_gain(1, 1)
    (0.5, None)
    """
    return None if math.isclose(before, 1) else (after - before) / (1 - before)
