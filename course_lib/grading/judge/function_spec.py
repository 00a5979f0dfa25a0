"""What a Python function of an exercise must return."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Printed:
    """What a document prints for its own inputs where the exact value is another; both count as right.

    Attributes
    ----------
    value : number or tuple
        Of the form that `expected` returns; None in place of a number that the document does not print.
    says : str
        Who prints what, and how it comes out.
    within : float
        Half a unit of the last printed digit; 0 where the value is as exact as `tolerance` asks.
    """

    value: float | tuple
    says: str
    within: float = 0.0


@dataclass(frozen=True)
class FunctionSpec:
    """A part whose answer is a Python function of numbers.

    Attributes
    ----------
    exercise, part, title : str
    entry : str
        The name that the function must have.
    parameters : tuple of str
        Their names, as the statement has them.
    cases : tuple of tuple
        Arguments that everyone sees, from plain to hard.
    drawn : callable
        A NumPy generator -> further tuples of arguments, for grading.
    expected : callable
        Arguments -> the right number, or a tuple of numbers. Trusted code, which shares nothing with the answer.
    tolerance : float
        Relative; 0 for whole numbers, which must be met.
    guess : callable
        (arguments, what came) -> which mistake would give it, or "".
    also : callable
        Arguments -> `Printed`, or None for inputs of which no document prints another value.
    """

    exercise: str
    part: str
    title: str
    entry: str
    parameters: tuple[str, ...]
    cases: tuple[tuple, ...] = field(repr=False)
    drawn: Callable = field(repr=False)
    expected: Callable = field(repr=False)
    tolerance: float = 0.0
    guess: Callable = field(default=lambda arguments, got: "", repr=False)
    also: Callable = field(default=lambda *arguments: None, repr=False)

    def __str__(self):
        return f"{self.title} (function `{self.entry}({', '.join(self.parameters)})`)"
