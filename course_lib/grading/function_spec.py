"""What a Python function of an exercise must return."""

from collections.abc import Callable
from dataclasses import dataclass, field


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

    def __str__(self):
        return f"{self.title} (function `{self.entry}({', '.join(self.parameters)})`)"
