"""What a kernel lets the reader choose, and the rules that the hardware sets for the choice.

A `Parameter` is one number (a tile or block size); a `Rule` ties several together. Both answer with a
sentence, never with a bare True or False, because widgets and errors show that sentence.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import SupportsIndex

from course_lib.errors import CourseError

MAX_THREADS = 1024             # threads a block; CUDA C++ Programming Guide, "Compute Capabilities"
MAX_STATIC_SHARED = 48 * 1024  # bytes a block of `__shared__` arrays of fixed size; same table
MAX_DYNAMIC_SHARED = 227 * 1024        # bytes a block can ask for at launch, CC 9.0; same table
MAX_SUMS_OF_THREAD = 128       # of the 255 registers a thread can have; same table
MAX_SUMS_OF_BLOCK = 32 * 1024  # half of the 64 Ki registers a block can have; same table
MAX_GRID = (2**31 - 1, 65535, 65535)   # blocks along x, y, z; same table

@dataclass(frozen=True)
class Parameter:
    """One number of a kernel that a reader may change.

    Attributes
    ----------
    name, meaning
        As written in the kernel; what it counts, with its unit.
    low, high
        Smallest and largest value that can be right.
    choices
        What a slider offers. Other values between `low` and `high` are allowed too.
    """

    name: str
    meaning: str
    default: int
    low: int = 1
    high: int = MAX_THREADS
    choices: tuple[int, ...] = (1, 2, 4, 8, 16, 32)

    def problem(self, value: SupportsIndex) -> str | None:
        """Return a sentence on what is wrong with a value, or None.

        >>> Parameter("BK", "columns of the A tile", 16).problem(0)
        'BK = 0 is too small: BK (columns of the A tile) is a whole number from 1 to 1024'
        """
        right = f"{self.name} ({self.meaning}) is a whole number from {self.low} to {self.high}"
        try:
            number = operator.index(value)
        except TypeError:
            return f"{self.name} = {value!r:.60} is not a whole number: {right}"
        if isinstance(value, bool):
            return f"{self.name} = {value!r:.60} is not a whole number: {right}"
        if abs(number) >= 10 ** 18:
            return f"{self.name} is too {'large' if number > 0 else 'small'}: {right}"
        if number < self.low:
            return f"{self.name} = {number} is too small: {right}"
        if number > self.high:
            return f"{self.name} = {number} is too large: {right}"
        return None


@dataclass(frozen=True)
class Rule:
    """A condition on several parameters.

    Attributes
    ----------
    text
        The condition as a reader writes it, `BM * BN <= 1024`.
    why
        Why the hardware has this rule.
    holds
        parameters -> bool.
    says
        parameters -> one sentence that names the values and what would be right.
    """

    text: str
    why: str
    holds: Callable[[Mapping[str, int]], bool] = field(repr=False)
    says: Callable[[Mapping[str, int]], str] = field(repr=False)

    def problem(self, parameters: Mapping[str, int]) -> str | None:
        """Return a sentence on how the parameters break this rule, or None.

        >>> from course_lib.kernels.rules import threads_rule
        >>> threads_rule("bx", "by").problem({"bx": 64, "by": 32})
        'bx × by = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: with by = 32, bx can be up to 32'
        """
        return None if self.holds(parameters) else self.says(parameters)


def check_grid(name: str, grid: tuple[int, int, int]) -> None:
    """Raise a `CourseError` when a grid has more blocks along an axis than a launch may have."""
    for axis, blocks, limit in zip("xyz", grid, MAX_GRID, strict=True):
        if blocks > limit:
            raise CourseError(
                f"{name}: {blocks} blocks along {axis}, but a grid has at most {limit} there: take a larger block",
                kernel=name, grid=grid)
