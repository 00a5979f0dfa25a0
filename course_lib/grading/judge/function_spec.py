"""What a Python function of an exercise must return."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Numbers = float | tuple[float, ...]


@dataclass(frozen=True)
class PrintedValue:
    """What a document prints for its own inputs where the exact value is another; both count as right.

    Attributes
    ----------
    value
        Of the form that `expected` returns; None in place of a number that the document does not print.
    says
        Who prints what, and how it comes out.
    within
        Half a unit of the last printed digit; 0 where the value is as exact as `tolerance` asks.
    """

    value: float | tuple[float | None, ...]
    says: str
    within: float = 0.0


@dataclass(frozen=True)
class FunctionSpec:
    """A part whose answer is a Python function of numbers.

    Attributes
    ----------
    entry
        The name that the function must have.
    parameters
        Their names, as the statement has them.
    cases
        Arguments that everyone sees, from plain to hard.
    drawn
        Further tuples of arguments, for grading.
    expected
        Arguments -> the right number or numbers. Trusted code, which shares nothing with the answer.
    tolerance
        Relative; 0 for whole numbers, which must be met.
    guess
        (arguments, what came) -> which mistake would give it, or "".
    also
        Arguments -> `PrintedValue`, or None for inputs of which no document prints another value.
    """

    exercise: str
    part: str
    title: str
    entry: str
    parameters: tuple[str, ...]
    cases: tuple[tuple, ...] = field(repr=False)
    drawn: Callable[[np.random.Generator], Iterable[tuple]] = field(repr=False)
    expected: Callable[..., Numbers] = field(repr=False)
    tolerance: float = 0.0
    guess: Callable[[tuple, Any], str] = field(default=lambda arguments, got: "", repr=False)
    also: Callable[..., PrintedValue | None] = field(default=lambda *arguments: None, repr=False)

    def __str__(self) -> str:
        return f"{self.title} (function `{self.entry}({', '.join(self.parameters)})`)"
