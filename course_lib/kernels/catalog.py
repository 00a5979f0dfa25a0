"""The catalog: for every kernel its file, its idea, what the reader may choose, and how it is launched."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.kernels.parameters import (
    MAX_SUMS_OF_BLOCK,
    MAX_SUMS_OF_THREAD,
    Parameter,
    Rule,
    check_grid,
    divides_rule,
    shared_out_threads_rule,
    sums_rule,
    threads_rule,
    tiles_rule,
)

FOLDER = Path(__file__).parent


def ceil_div(a, b):
    """Divide and round up.

    >>> ceil_div(33, 32)
    2
    """
    return -(-a // b)


def _nothing(p):
    return 0


@dataclass(frozen=True)
class Kernel:
    """One kernel of the course, and all that is needed to launch it.

    Attributes
    ----------
    name, entry : str
        What the reader calls it; the name of the function in the file.
    path : Path
        The `.cu` file.
    idea, lesson : str
        One line; the name of the notebook that teaches it, empty as long as none does.
    parameters : tuple of Parameter
    rules : tuple of Rule
    passes : tuple of str
        Parameters that reach the compiler with -D; the others only shape the block.
    dtype : str
        Element type of A, B and C.
    """

    name: str
    path: Path = field(repr=False)
    entry: str
    idea: str
    lesson: str
    parameters: tuple[Parameter, ...] = field(repr=False)
    rules: tuple[Rule, ...] = field(repr=False)
    passes: tuple[str, ...] = field(repr=False)
    block_of: Callable[[Mapping[str, int]], tuple[int, int, int]] = field(repr=False)
    grid_of: Callable[[int, int, Mapping[str, int]], tuple[int, int, int]] = field(repr=False)
    shared_of: Callable[[Mapping[str, int]], int] = field(repr=False, default=_nothing)
    dtype: str = "float32"

    @property
    def source(self):
        """Return the CUDA C text."""
        return self.path.read_text(encoding="utf-8")

    def problems(self, **parameters):
        """Return every reason why these parameters cannot run, as sentences; empty when they can.

        Parameters that are not named keep their defaults.

        >>> for line in get("sgemm_tiled").problems(BM=64, BN=64, BK=128): print(line)
        BN × BM = 64 × 64 = 4096 threads a block, but at most 1024 are allowed: with BM = 64, BN can be up to 16
        tiles of 64 × 128 and 128 × 64 floats take 65536 bytes, but at most 49152 (48 KiB) of shared memory \
are allowed: with BM = 64 and BN = 64, BK can be up to 96
        """
        known = {p.name: p for p in self.parameters}
        wrong = [self._unknown(name) for name in parameters if name not in known]
        values = {name: parameters.get(name, p.default) for name, p in known.items()}
        ranges = [s for name, p in known.items() if (s := p.problem(values[name]))]
        if wrong or ranges:
            return tuple(wrong + ranges)       # a rule needs sensible numbers before it can be asked
        values = {name: int(value) for name, value in values.items()}
        return tuple(s for rule in self.rules if (s := rule.problem(values)))

    def check(self, **parameters):
        """Return all parameters, defaults filled in, as plain ints.

        Raises
        ------
        CourseError
            Names each value that is wrong and what would be right.
        """
        wrong = self.problems(**parameters)
        if wrong:
            raise CourseError("\n".join([f"{self.name}: {wrong[0]}", *wrong[1:]]),
                              kernel=self.name, parameters=parameters, problems=wrong)
        return {p.name: int(parameters.get(p.name, p.default)) for p in self.parameters}

    def block(self, **parameters):
        """Return the threads of a block along x, y, z."""
        return self.block_of(self.check(**parameters))

    def grid(self, M, N, **parameters):
        """Return the blocks of the grid along x, y, z that cover an M × N result.

        >>> get("sgemm_tiled").grid(100, 33, BM=32, BN=16)
        (3, 4, 1)
        """
        grid = self.grid_of(M, N, self.check(**parameters))
        check_grid(self.name, grid)
        return grid

    def shared_bytes(self, **parameters):
        """Return the bytes of static shared memory that a block declares."""
        return self.shared_of(self.check(**parameters))

    def defines(self, **parameters):
        """Return what the compiler gets with -D."""
        values = self.check(**parameters)
        return {name: values[name] for name in self.passes}

    def flops(self, M, N, K):
        """Return the floating-point operations of the product: a multiplication and an addition, MNK times."""
        return 2 * M * N * K

    def _unknown(self, name):
        names = [p.name for p in self.parameters]
        close = _close(name, names)
        return f"{name} is no parameter of {self.name}{close or ': it has ' + ', '.join(names)}"


def _close(name, names):
    by_lower = {n.lower(): n for n in names}
    if str(name).lower() in by_lower:
        return f": did you mean {by_lower[name.lower()]}?"
    found = difflib.get_close_matches(str(name).lower(), by_lower, n=3, cutoff=0.6)
    return f": did you mean {' or '.join(by_lower[n] for n in found)}?" if found else ""


BLOCK_XY = (
    Parameter("bx", "threads of a block along x", 16, choices=(1, 2, 4, 8, 16, 32, 64, 128, 256)),
    Parameter("by", "threads of a block along y", 16, choices=(1, 2, 4, 8, 16, 32, 64, 128, 256)),
)
TILE_MNK = (
    Parameter("BM", "rows of C a block computes", 32, choices=(4, 8, 16, 32)),
    Parameter("BN", "columns of C a block computes", 32, choices=(4, 8, 16, 32)),
    Parameter("BK", "columns of A a block loads at a time", 32, high=6144, choices=(4, 8, 16, 32, 64)),
)
TILE_1D = (
    Parameter("BM", "rows of C a block computes", 64, choices=(8, 16, 32, 64, 128)),
    Parameter("BN", "columns of C a block computes", 64, choices=(8, 16, 32, 64, 128)),
    Parameter("BK", "columns of A a block loads at a time", 8, high=6144, choices=(4, 8, 16, 32)),
    Parameter("TM", "rows of C a thread computes", 8, high=128, choices=(1, 2, 4, 8)),
)
TILE_2D = (
    Parameter("BM", "rows of C a block computes", 128, choices=(16, 32, 64, 128)),
    Parameter("BN", "columns of C a block computes", 128, choices=(16, 32, 64, 128)),
    Parameter("BK", "columns of A a block loads at a time", 8, high=6144, choices=(4, 8, 16, 32)),
    Parameter("TM", "rows of C a thread computes", 8, high=128, choices=(1, 2, 4, 8)),
    Parameter("TN", "columns of C a thread computes", 8, high=128, choices=(1, 2, 4, 8)),
)


def _tile_bytes(p):
    return 4 * (p["BM"] * p["BK"] + p["BK"] * p["BN"])


def _tile_grid(M, N, p):
    return ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1


def _kernels():
    yield Kernel(
        "sgemm_swapped", FOLDER / "sgemm_swapped.cu", "sgemm_swapped",
        idea="a thread per element, rows and columns the wrong way round", lesson="03_first_kernel",
        parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(M, p["bx"]), ceil_div(N, p["by"]), 1))
    yield Kernel(
        "sgemm_naive", FOLDER / "sgemm_naive.cu", "sgemm_naive",
        idea="a thread per element, everything from global memory", lesson="03_first_kernel",
        parameters=BLOCK_XY, rules=(threads_rule("bx", "by"),), passes=(),
        block_of=lambda p: (p["bx"], p["by"], 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["bx"]), ceil_div(M, p["by"]), 1))
    yield Kernel(
        "sgemm_tiled", FOLDER / "sgemm_tiled.cu", "sgemm_tiled",
        idea="tiles of A and B in shared memory, each element loaded once a block", lesson="04_tiling",
        parameters=TILE_MNK, rules=(threads_rule("BN", "BM"), tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK"),
        block_of=lambda p: (p["BN"], p["BM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)
    yield Kernel(
        "sgemm_1d_tile", FOLDER / "sgemm_1d_tile.cu", "sgemm_1d_tile",
        idea="TM elements of a column for each thread, an element of B used TM times from a register", lesson="",
        parameters=TILE_1D,
        rules=(divides_rule("BM", "TM"), shared_out_threads_rule(("BN",), ("BM", "TM")),
               sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"), tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK", "TM"),
        block_of=lambda p: (p["BN"], p["BM"] // p["TM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)
    yield Kernel(
        "sgemm_2d_tile", FOLDER / "sgemm_2d_tile.cu", "sgemm_2d_tile",
        idea="TM × TN elements for each thread, an outer product in registers for each k", lesson="",
        parameters=TILE_2D,
        rules=(divides_rule("BM", "TM"), divides_rule("BN", "TN"), shared_out_threads_rule(("BN", "TN"), ("BM", "TM")),
               sums_rule(("TM", "TN"), MAX_SUMS_OF_THREAD, "a thread"), sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"),
               tiles_rule("BM", "BN", "BK")),
        passes=("BM", "BN", "BK", "TM", "TN"),
        block_of=lambda p: (p["BN"] // p["TN"], p["BM"] // p["TM"], 1),
        grid_of=_tile_grid, shared_of=_tile_bytes)


KERNELS = {kernel.name: kernel for kernel in _kernels()}


def get(name):
    """Return the kernel of that name.

    Raises
    ------
    CourseError
        Names the kernels that come close, or all of them.

    >>> get("sgemm_naive").idea
    'a thread per element, everything from global memory'
    """
    if isinstance(name, str) and name in KERNELS:
        return KERNELS[name]
    close = _close(name, list(KERNELS)) or f": the kernels are {', '.join(KERNELS)}"
    raise CourseError(f"there is no kernel {name!r}{close}", kernel=name)
