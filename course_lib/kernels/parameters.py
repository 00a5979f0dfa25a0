"""What a kernel lets the reader choose, and the rules that the hardware sets for the choice.

A `Parameter` is one number (a tile or block size); a `Rule` ties several together. Both answer with a
sentence, never with a bare True or False, because widgets and errors show that sentence.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course_lib.errors import CourseError

MAX_THREADS = 1024             # threads a block; CUDA C++ Programming Guide, "Compute Capabilities"
MAX_STATIC_SHARED = 48 * 1024  # bytes a block of `__shared__` arrays of fixed size; same table
MAX_SUMS_OF_THREAD = 128       # of the 255 registers a thread can have; same table
MAX_SUMS_OF_BLOCK = 32 * 1024  # half of the 64 Ki registers a block can have; same table
MAX_GRID = (2**31 - 1, 65535, 65535)   # blocks along x, y, z; same table

WHY_THREADS = (
    "a block runs on one multiprocessor, which keeps the registers of all its threads at once; "
    "every GPU since 2010 stops at 1024"
)
WHY_SHARED = (
    "shared memory is the on-chip memory of one multiprocessor; arrays of fixed size may take 48 KiB of it, "
    "whatever the device has beyond that must be asked for at launch"
)

WHY_WHOLE = "the threads of a block share its tile evenly: each computes the same number of elements"
WHY_SUMS = (
    "every element of C that a thread computes is a sum in a register of its own; beside the sums a thread needs registers for "
    "elements of A and B and for addresses, and what does not fit is moved to slow memory"
)


@dataclass(frozen=True)
class Parameter:
    """One number of a kernel that a reader may change.

    Attributes
    ----------
    name, meaning : str
        As written in the kernel; what it counts, with its unit.
    default : int
    low, high : int
        Smallest and largest value that can be right.
    choices : tuple of int
        What a slider offers. Other values between `low` and `high` are allowed too.
    """

    name: str
    meaning: str
    default: int
    low: int = 1
    high: int = MAX_THREADS
    choices: tuple[int, ...] = (1, 2, 4, 8, 16, 32)

    def problem(self, value):
        """Return a sentence on what is wrong with a value, or None.

        >>> Parameter("BK", "columns of the A tile", 16).problem(0)
        'BK = 0 is too small: BK (columns of the A tile) is a whole number from 1 to 1024'
        """
        right = f"{self.name} ({self.meaning}) is a whole number from {self.low} to {self.high}"
        try:
            number = operator.index(value)
        except TypeError:
            return f"{self.name} = {value!r} is not a whole number: {right}"
        if isinstance(value, bool):
            return f"{self.name} = {value!r} is not a whole number: {right}"
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
    text : str
        The condition as a reader writes it, `BM * BN <= 1024`.
    why : str
        Why the hardware has this rule.
    holds : callable
        parameters -> bool.
    says : callable
        parameters -> one sentence that names the values and what would be right.
    """

    text: str
    why: str
    holds: Callable[[Mapping[str, int]], bool] = field(repr=False)
    says: Callable[[Mapping[str, int]], str] = field(repr=False)

    def problem(self, parameters):
        """Return a sentence on how the parameters break this rule, or None.

        >>> threads_rule("bx", "by").problem({"bx": 64, "by": 32})
        'bx × by = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: with by = 32, bx can be up to 32'
        """
        return None if self.holds(parameters) else self.says(parameters)


def threads_rule(x, y):
    """Return the rule that a block of x by y threads (names of parameters) fits."""

    def says(p):
        largest = MAX_THREADS // p[y]
        right = (f"with {y} = {p[y]}, {x} can be up to {largest}" if largest
                 else f"even with {x} = 1, {y} can be up to {MAX_THREADS}")
        return (f"{x} × {y} = {p[x]} × {p[y]} = {p[x] * p[y]} threads a block, "
                f"but at most {MAX_THREADS} are allowed: {right}")

    return Rule(f"{x} * {y} <= {MAX_THREADS}", WHY_THREADS, lambda p: p[x] * p[y] <= MAX_THREADS, says)


def divides_rule(tile, share):
    """Return the rule that a thread's share divides the tile's side.

    >>> divides_rule("BM", "TM").problem({"BM": 100, "TM": 8})
    'TM = 8 does not divide BM = 100: BM can be 96 or 104'
    """

    def says(p):
        below = p[tile] // p[share] * p[share]
        right = f"{below} or {below + p[share]}" if below else f"{p[share]}"
        return f"{share} = {p[share]} does not divide {tile} = {p[tile]}: {tile} can be {right}"

    return Rule(f"{tile} % {share} == 0", WHY_WHOLE, lambda p: p[tile] % p[share] == 0, says)


def shared_out_threads_rule(*sides):
    """Return the rule on the threads of a block that shares out its tile; a side is (tile, share), or (tile,) for one each.

    >>> shared_out_threads_rule(("BN",), ("BM", "TM")).problem({"BM": 64, "BN": 64, "TM": 2})
    'BN × BM/TM = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: take a larger TM or a smaller tile'
    """
    words = " × ".join("/".join(side) for side in sides)
    shares = " or ".join(side[1] for side in reversed(sides) if len(side) > 1)

    def counts(p):
        return [p[side[0]] // (p[side[1]] if len(side) > 1 else 1) for side in sides]

    def says(p):
        return (f"{words} = {' × '.join(map(str, counts(p)))} = {math.prod(counts(p))} threads a block, but at most {MAX_THREADS} are "
                f"allowed: take a larger {shares} or a smaller tile")

    return Rule(f"{words} <= {MAX_THREADS}", WHY_THREADS, lambda p: math.prod(counts(p)) <= MAX_THREADS, says)


def sums_rule(factors, most, whose):
    """Return the rule that the product of these parameters, the sums of a thread or a block, is at most `most`.

    >>> sums_rule(("TM", "TN"), 128, "a thread").problem({"TM": 16, "TN": 16})
    'TM × TN = 16 × 16 = 256 sums for a thread, but at most 128 fit into its registers: with TM = 16, TN can be up to 8'
    """

    def says(p):
        values = [p[f] for f in factors]
        text = f"{' × '.join(factors)} = {' × '.join(map(str, values))}"
        text = text if len(values) == 1 else f"{text} = {math.prod(values)}"
        *fixed, last = factors
        largest = most // math.prod(values[:-1])
        kept = " and ".join(f"{f} = {p[f]}" for f in fixed)
        right = (f"{last} can be up to {largest}" if not fixed else f"with {kept}, {last} can be up to {largest}" if largest
                 else f"even with {last} = 1, {kept} must come down")
        return f"{text} sums for {whose}, but at most {most} fit into its registers: {right}"

    return Rule(f"{' * '.join(factors)} <= {most}", WHY_SUMS, lambda p: math.prod(p[f] for f in factors) <= most, says)


def tiles_rule(rows, cols, depth):
    """Return the rule that a rows × depth and a depth × cols tile of float32 fit in static shared memory."""

    def size(p):
        return 4 * (p[rows] * p[depth] + p[depth] * p[cols])

    def says(p):
        largest = MAX_STATIC_SHARED // (4 * (p[rows] + p[cols]))
        right = (f"with {rows} = {p[rows]} and {cols} = {p[cols]}, {depth} can be up to {largest}" if largest
                 else f"{rows} + {cols} = {p[rows] + p[cols]} must first come down to {MAX_STATIC_SHARED // 4}")
        return (f"tiles of {p[rows]} × {p[depth]} and {p[depth]} × {p[cols]} floats take {size(p)} bytes, "
                f"but at most {MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: {right}")

    return Rule(f"4 * ({rows}*{depth} + {depth}*{cols}) <= {MAX_STATIC_SHARED}", WHY_SHARED,
                lambda p: size(p) <= MAX_STATIC_SHARED, says)


def check_grid(name, grid):
    """Raise a `CourseError` when a grid has more blocks along an axis than a launch may have."""
    for axis, blocks, limit in zip("xyz", grid, MAX_GRID, strict=True):
        if blocks > limit:
            raise CourseError(
                f"{name}: {blocks} blocks along {axis}, but a grid has at most {limit} there: take a larger block",
                kernel=name, grid=grid)
